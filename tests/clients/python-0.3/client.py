"""The 0.3 line of the Python SDK against a running server."""

from collections.abc import AsyncIterator
from uuid import uuid4

import grpc
import httpx
from a2a.client import A2ACardResolver, Client, ClientConfig, ClientEvent, ClientFactory
from a2a.client.errors import A2AClientHTTPError, A2AClientJSONRPCError
from a2a.types import (
    Artifact,
    Message,
    Part,
    Role,
    Task,
    TaskArtifactUpdateEvent,
    TaskIdParams,
    TaskNotFoundError,
    TaskQueryParams,
    TaskState,
    TextPart,
    TransportProtocol,
)

from checks import CHUNKS, DONE, TIMEOUT_S, expect, main, run


def message(text: str) -> Message:
    """A message from the user that names a script."""
    return Message(message_id=str(uuid4()), role=Role.user, parts=[Part(root=TextPart(text=text))])


def artifact_text(artifacts: list[Artifact] | None) -> str:
    """The text of the artifact a1."""
    chosen = [artifact for artifact in artifacts or [] if artifact.artifact_id == "a1"]
    return "".join(part.root.text for artifact in chosen for part in artifact.parts)


async def read(events: AsyncIterator[ClientEvent | Message]) -> tuple[str, Task]:
    """Reads a stream to its end: the text of all artifact updates, and the task as the SDK put it together."""
    text, task = "", None
    async for event in events:
        if isinstance(event, Message):
            raise AssertionError("a message came instead of a task")
        task, update = event
        if isinstance(update, TaskArtifactUpdateEvent):
            text += artifact_text([update.artifact])
    if task is None:
        raise AssertionError("the stream was empty")
    return text, task


async def send(client: Client, text: str) -> Task:
    """The task that a message without a stream gives."""
    replies = [reply async for reply in client.send_message(message(text))]
    if len(replies) != 1 or isinstance(replies[0], Message):
        raise AssertionError(f"one task was to come, not {replies}")
    return replies[0][0]


async def drive(base: str, binding: str) -> int:
    """Runs every check over one binding."""
    async with httpx.AsyncClient(timeout=TIMEOUT_S, trust_env=False) as http:
        card = await A2ACardResolver(http, base).get_agent_card()

        def connect(streaming: bool, polling: bool = False) -> Client:
            config = ClientConfig(
                httpx_client=http,
                grpc_channel_factory=grpc.aio.insecure_channel,
                streaming=streaming,
                polling=polling,
                supported_transports=[TransportProtocol(binding)],
            )
            return ClientFactory(config).create(card)

        plain, polling, streaming = connect(False), connect(False, polling=True), connect(True)

        async def _discover() -> None:
            expect("named", bool(card.name), True)
            expect("streaming", card.capabilities.streaming, True)
            expect("version", card.protocol_version.split(".")[:2], ["0", "3"])
            expect("transport", card.preferred_transport, "JSONRPC")
            offered = {each.transport for each in card.additional_interfaces or []}
            expect("the binding is offered", binding in offered, True)

        async def _send_and_get() -> None:
            task = await send(plain, "complete")
            expect("state", task.status.state, TaskState.completed)
            expect("text", artifact_text(task.artifacts), DONE)
            stored = await plain.get_task(TaskQueryParams(id=task.id))
            expect("id", stored.id, task.id)
            expect("stored state", stored.status.state, TaskState.completed)
            expect("stored text", artifact_text(stored.artifacts), DONE)

        async def _stream() -> None:
            text, task = await read(streaming.send_message(message("chunks")))
            expect("text", text, CHUNKS)
            expect("folded text", artifact_text(task.artifacts), CHUNKS)
            expect("last state", task.status.state, TaskState.completed)
            stored = await plain.get_task(TaskQueryParams(id=task.id))
            expect("stored text", artifact_text(stored.artifacts), CHUNKS)

        async def _cancel() -> None:
            task = await send(polling, "slow")
            canceled = await plain.cancel_task(TaskIdParams(id=task.id))
            expect("state", canceled.status.state, TaskState.canceled)
            stored = await plain.get_task(TaskQueryParams(id=task.id))
            expect("stored state", stored.status.state, TaskState.canceled)

        async def _resubscribe() -> None:
            started = await send(polling, "slow")
            text, task = await read(streaming.resubscribe(TaskIdParams(id=started.id)))
            expect("id", task.id, started.id)
            expect("text", text, DONE)
            expect("folded text", artifact_text(task.artifacts), DONE)
            expect("last state", task.status.state, TaskState.completed)

        async def _unknown_task() -> None:
            try:
                await plain.get_task(TaskQueryParams(id=str(uuid4())))
            except A2AClientJSONRPCError as error:
                expect("code", error.error.code, TaskNotFoundError.model_fields["code"].default)
                return
            except A2AClientHTTPError as error:
                # All that this line of the SDK tells of an error over HTTP+JSON.
                expect("binding and status", (binding, error.status_code), ("HTTP+JSON", 404))
                return
            except grpc.aio.AioRpcError as error:
                expect("code", error.code(), grpc.StatusCode.NOT_FOUND)
                return
            raise AssertionError("a task that does not exist was found")

        return await run([_discover, _send_and_get, _stream, _cancel, _resubscribe, _unknown_task])


main(drive)
