// The 1.0 line of the JavaScript SDK against a running server.

import { randomUUID } from "node:crypto";
import { Role, TaskState } from "@a2a-js/sdk";
import { ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory, RestTransportFactory } from "@a2a-js/sdk/client";
import { GrpcTransportFactory } from "@a2a-js/sdk/client/grpc";
import { TaskNotFoundError } from "@a2a-js/sdk/errors";
import { CHUNKS, DONE, expect, main } from "../checks.mjs";

/** A message from the user that names a script. */
function request(text, returnImmediately = false) {
  return {
    tenant: "",
    metadata: undefined,
    configuration: {
      acceptedOutputModes: [],
      taskPushNotificationConfig: undefined,
      returnImmediately,
    },
    message: {
      messageId: randomUUID(),
      contextId: "",
      taskId: "",
      role: Role.ROLE_USER,
      parts: [{ content: { $case: "text", value: text }, metadata: undefined, filename: "", mediaType: "" }],
      metadata: undefined,
      extensions: [],
      referenceTaskIds: [],
    },
  };
}

/** The text of the artifact a1. */
function artifactText(artifacts) {
  const parts = artifacts.filter((artifact) => artifact.artifactId === "a1").flatMap((artifact) => artifact.parts);
  return parts.map((part) => (part.content?.$case === "text" ? part.content.value : "")).join("");
}

/** Reads a stream to its end: what came first, the text of the artifact, the last state, the task's id. */
async function read(events) {
  const seen = { first: undefined, text: "", state: undefined, id: undefined };
  for await (const { payload } of events) {
    seen.first ??= payload.$case;
    if (payload.$case === "task") {
      seen.id = payload.value.id;
      seen.state = payload.value.status.state;
      seen.text += artifactText(payload.value.artifacts);
    } else if (payload.$case === "statusUpdate") {
      seen.state = payload.value.status.state;
    } else if (payload.$case === "artifactUpdate") {
      seen.text += artifactText([payload.value.artifact]);
    }
  }
  return seen;
}

await main(async (base, binding) => {
  const cardResolver = new DefaultAgentCardResolver();
  const card = await cardResolver.resolve(base);
  const client = await new ClientFactory({
    transports: [new JsonRpcTransportFactory(), new RestTransportFactory(), new GrpcTransportFactory()],
    preferredTransports: [binding],
    cardResolver,
  }).createFromAgentCard(card);
  const get = (id) => client.getTask({ tenant: "", id });

  return {
    async discover() {
      expect("named", card.name.length > 0, true);
      expect("streaming", card.capabilities.streaming, true);
      const offered = card.supportedInterfaces.map((each) => `${each.protocolBinding} ${each.protocolVersion}`);
      expect("1.0 is offered over the binding", offered.includes(`${binding} 1.0`), true);
      expect("version of the client", client.protocolVersion, "1.0");
    },

    async send_and_get() {
      const task = await client.sendMessage(request("complete"));
      expect("state", task.status.state, TaskState.TASK_STATE_COMPLETED);
      expect("text", artifactText(task.artifacts), DONE);
      const stored = await get(task.id);
      expect("id", stored.id, task.id);
      expect("stored state", stored.status.state, TaskState.TASK_STATE_COMPLETED);
      expect("stored text", artifactText(stored.artifacts), DONE);
    },

    async stream() {
      const seen = await read(client.sendMessageStream(request("chunks")));
      expect("first event", seen.first, "task");
      expect("text", seen.text, CHUNKS);
      expect("last state", seen.state, TaskState.TASK_STATE_COMPLETED);
      expect("stored text", artifactText((await get(seen.id)).artifacts), CHUNKS);
    },

    async cancel() {
      const { id } = await client.sendMessage(request("slow", true));
      const canceled = await client.cancelTask({ tenant: "", id, metadata: undefined });
      expect("state", canceled.status.state, TaskState.TASK_STATE_CANCELED);
      expect("stored state", (await get(id)).status.state, TaskState.TASK_STATE_CANCELED);
    },

    async subscribe() {
      const { id } = await client.sendMessage(request("slow", true));
      const seen = await read(client.resubscribeTask({ tenant: "", id }));
      expect("first event", seen.first, "task");
      expect("id", seen.id, id);
      expect("text", seen.text, DONE);
      expect("last state", seen.state, TaskState.TASK_STATE_COMPLETED);
    },

    async unknown_task() {
      const error = await get(randomUUID()).then(() => undefined, (error) => error);
      expect("a task-not-found error", error instanceof TaskNotFoundError || `${error}`, true);
    },
  };
});
