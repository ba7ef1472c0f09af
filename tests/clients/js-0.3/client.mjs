// The 0.3 line of the JavaScript SDK against a running server.

import { randomUUID } from "node:crypto";
import {
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
  TaskNotFoundError,
} from "@a2a-js/sdk/client";
import { GrpcTransportFactory } from "@a2a-js/sdk/client/grpc";
import { CHUNKS, DONE, expect, main } from "../checks.mjs";

/** A message from the user that names a script. */
function request(text, blocking = true) {
  const parts = [{ kind: "text", text }];
  return { message: { kind: "message", messageId: randomUUID(), role: "user", parts }, configuration: { blocking } };
}

/** The text of the artifact a1. */
function artifactText(artifacts = []) {
  const parts = artifacts.filter((artifact) => artifact.artifactId === "a1").flatMap((artifact) => artifact.parts);
  return parts.map((part) => part.text ?? "").join("");
}

/** Reads a stream to its end: what came first, the text of the artifact, the last state, the task's id. */
async function read(events) {
  const seen = { first: undefined, text: "", state: undefined, id: undefined, final: undefined };
  for await (const event of events) {
    seen.first ??= event.kind;
    if (event.kind === "task") {
      seen.id = event.id;
      seen.state = event.status.state;
      seen.text += artifactText(event.artifacts);
    } else if (event.kind === "status-update") {
      seen.state = event.status.state;
      seen.final = event.final;
    } else if (event.kind === "artifact-update") {
      seen.text += artifactText([event.artifact]);
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

  return {
    async discover() {
      expect("named", card.name.length > 0, true);
      expect("streaming", card.capabilities.streaming, true);
      expect("version", card.protocolVersion.split(".").slice(0, 2).join("."), "0.3");
      expect("transport", card.preferredTransport, "JSONRPC");
      const offered = card.additionalInterfaces.map((each) => each.transport);
      expect("the binding is offered", offered.includes(binding), true);
    },

    async send_and_get() {
      const task = await client.sendMessage(request("complete"));
      expect("kind", task.kind, "task");
      expect("state", task.status.state, "completed");
      expect("text", artifactText(task.artifacts), DONE);
      const stored = await client.getTask({ id: task.id });
      expect("id", stored.id, task.id);
      expect("stored state", stored.status.state, "completed");
      expect("stored text", artifactText(stored.artifacts), DONE);
    },

    async stream() {
      const seen = await read(client.sendMessageStream(request("chunks")));
      expect("first event", seen.first, "task");
      expect("text", seen.text, CHUNKS);
      expect("last state", seen.state, "completed");
      expect("final", seen.final, true);
      const stored = await client.getTask({ id: seen.id });
      expect("stored text", artifactText(stored.artifacts), CHUNKS);
    },

    async cancel() {
      const { id } = await client.sendMessage(request("slow", false));
      const canceled = await client.cancelTask({ id });
      expect("state", canceled.status.state, "canceled");
      expect("stored state", (await client.getTask({ id })).status.state, "canceled");
    },

    async resubscribe() {
      const { id } = await client.sendMessage(request("slow", false));
      const seen = await read(client.resubscribeTask({ id }));
      expect("text", seen.text, DONE);
      expect("last state", seen.state, "completed");
      expect("final", seen.final, true);
    },

    async unknown_task() {
      const error = await client.getTask({ id: randomUUID() }).then(() => undefined, (error) => error);
      expect("a task-not-found error", error instanceof TaskNotFoundError || `${error}`, true);
    },
  };
});
