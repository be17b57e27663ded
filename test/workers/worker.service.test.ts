import { fork } from "node:child_process";
import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { DEFAULT_MODELS_DIR } from "../../src/core/index.ts";
import type { TaskResult, WorkerRequest } from "../../src/workers/worker-messages.ts";
import { FACES } from "../support/faces.ts";
import { photograph } from "../support/images.ts";

const PROGRAM = new URL("../../dist/src/workers/worker.js", import.meta.url);

/** Starts a worker process. Returns functions to talk to it, and its responses so far. */
function startWorker() {
  const worker = fork(PROGRAM, { serialization: "advanced" });
  onTestFinished(async () => {
    worker.disconnect();
    await once(worker, "exit");
  });
  const responses: TaskResult[] = [];
  worker.on("message", (response: TaskResult) => responses.push(response));
  return {
    responses,
    send: (request: WorkerRequest) => worker.send(request),
    waitForResponses: async (count: number) => {
      while (responses.length < count) await once(worker, "message");
    },
  };
}

const OPEN = { type: "open", options: { modelsDir: DEFAULT_MODELS_DIR } } as const;

test("a worker responds to each task, and a cancellation between two tasks has no effect", async () => {
  const { responses, send, waitForResponses } = startWorker();
  const job = { operation: "embed", image: photograph(3), options: {} } as const;

  send({ type: "cancel" });
  send(OPEN);
  await waitForResponses(1);
  for (const count of [2, 3]) {
    send({ type: "cancel" });
    send({ type: "run", job });
    await waitForResponses(count);
  }
  expect(responses.map(({ ok }) => ok)).toEqual([true, true, true]);
});

test("a worker cancels a running task at the end of a step", async () => {
  const { responses, send, waitForResponses } = startWorker();
  send(OPEN);
  await waitForResponses(1);
  const options = { boxes: Array.from({ length: 16 }, () => FACES[3][0]!) };
  send({ type: "run", job: { operation: "analyze", image: photograph(3), options } });
  send({ type: "cancel" });
  await waitForResponses(2);
  expect(responses[1]).toMatchObject({ ok: false, error: { face: undefined } });
});
