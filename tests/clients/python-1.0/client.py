"""The 1.0 line of the Python SDK against a running server."""

from collections.abc import AsyncIterator
from uuid import uuid4

import grpc
import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.client.client import Client
from a2a.types import a2a_pb2 as a2a
from a2a.utils.errors import TaskNotFoundError

from checks import CHUNKS, DONE, TIMEOUT_S, expect, main, run


def request(text: str, return_immediately: bool = False) -> a2a.SendMessageRequest:
    """A message from the user that names a script."""
    message = a2a.Message(message_id=str(uuid4()), role=a2a.ROLE_USER, parts=[a2a.Part(text=text)])
    configuration = a2a.SendMessageConfiguration(return_immediately=return_immediately)
    return a2a.SendMessageRequest(message=message, configuration=configuration)


async def read(events: AsyncIterator[a2a.StreamResponse]) -> tuple[str, str, int, str]:
    """Reads a stream to its end: what came first, the text of the artifact, the last state, the task's id."""
    first, text, state, task_id = "", "", a2a.TASK_STATE_UNSPECIFIED, ""
    async for event in events:
        kind = event.WhichOneof("payload") or ""
        first = first or kind
        if kind == "task":
            task_id, state = event.task.id, event.task.status.state
            text += artifact_text(event.task.artifacts)
        elif kind == "status_update":
            state = event.status_update.status.state
        elif kind == "artifact_update":
            text += artifact_text([event.artifact_update.artifact])
    return first, text, state, task_id


def artifact_text(artifacts: list[a2a.Artifact]) -> str:
    """The text of the artifact a1."""
    return "".join(part.text for artifact in artifacts if artifact.artifact_id == "a1" for part in artifact.parts)


async def send(client: Client, message: a2a.SendMessageRequest) -> a2a.Task:
    """The task that a message without a stream gives."""
    replies = [reply async for reply in client.send_message(message)]
    expect("replies", [reply.WhichOneof("payload") for reply in replies], ["task"])
    return replies[0].task


async def drive(base: str, binding: str) -> int:
    """Runs every check over one binding."""
    async with httpx.AsyncClient(timeout=TIMEOUT_S, trust_env=False) as http:
        card = await A2ACardResolver(http, base).get_agent_card()

        def connect(streaming: bool) -> Client:
            config = ClientConfig(
                httpx_client=http,
                grpc_channel_factory=grpc.aio.insecure_channel,
                streaming=streaming,
                supported_protocol_bindings=[binding],
            )
            return ClientFactory(config).create(card)

        plain, streaming = connect(False), connect(True)

        async def _discover() -> None:
            expect("named", bool(card.name), True)
            expect("streaming", card.capabilities.streaming, True)
            interfaces = {(each.protocol_binding, each.protocol_version) for each in card.supported_interfaces}
            expect("1.0 is offered over the binding", (binding, "1.0") in interfaces, True)

        async def _send_and_get() -> None:
            task = await send(plain, request("complete"))
            expect("state", task.status.state, a2a.TASK_STATE_COMPLETED)
            expect("text", artifact_text(task.artifacts), DONE)
            stored = await plain.get_task(a2a.GetTaskRequest(id=task.id))
            expect("id", stored.id, task.id)
            expect("stored state", stored.status.state, a2a.TASK_STATE_COMPLETED)
            expect("stored text", artifact_text(stored.artifacts), DONE)

        async def _stream() -> None:
            first, text, state, task_id = await read(streaming.send_message(request("chunks")))
            expect("first event", first, "task")
            expect("text", text, CHUNKS)
            expect("last state", state, a2a.TASK_STATE_COMPLETED)
            stored = await plain.get_task(a2a.GetTaskRequest(id=task_id))
            expect("stored text", artifact_text(stored.artifacts), CHUNKS)

        async def _cancel() -> None:
            task = await send(plain, request("slow", return_immediately=True))
            canceled = await plain.cancel_task(a2a.CancelTaskRequest(id=task.id))
            expect("state", canceled.status.state, a2a.TASK_STATE_CANCELED)
            stored = await plain.get_task(a2a.GetTaskRequest(id=task.id))
            expect("stored state", stored.status.state, a2a.TASK_STATE_CANCELED)

        async def _subscribe() -> None:
            task = await send(plain, request("slow", return_immediately=True))
            events = streaming.subscribe(a2a.SubscribeToTaskRequest(id=task.id))
            first, text, state, task_id = await read(events)
            expect("first event", first, "task")
            expect("id", task_id, task.id)
            expect("text", text, DONE)
            expect("last state", state, a2a.TASK_STATE_COMPLETED)

        async def _unknown_task() -> None:
            try:
                await plain.get_task(a2a.GetTaskRequest(id=str(uuid4())))
            except TaskNotFoundError:
                return
            raise AssertionError("a task that does not exist was found")

        return await run([_discover, _send_and_get, _stream, _cancel, _subscribe, _unknown_task])


main(drive)
