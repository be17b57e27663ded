import { fork } from "node:child_process";
import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { DEFAULT_MODELS_DIR } from "../../src/core/index.ts";
import type { WorkerRequest, WorkerResponse } from "../../src/workers/worker-messages.ts";
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
  const responses: WorkerResponse[] = [];
  worker.on("message", (response: WorkerResponse) => responses.push(response));
  return {
    responses,
    send: (request: WorkerRequest) => worker.send(request),
    waitForResponses: async (count: number) => {
      while (responses.length < count) await once(worker, "message");
    },
  };
}

test("a worker responds to tasks in order, but at once to one that is cancelled before it starts", async () => {
  const { responses, send, waitForResponses } = startWorker();
  const job = { operation: "embed", image: photograph(3), options: {} } as const;

  send({ id: 1, type: "open", options: { modelsDir: DEFAULT_MODELS_DIR } });
  for (const id of [2, 3, 4]) send({ id, type: "run", job });
  send({ id: 3, type: "cancel" });
  // The second cancellation has no effect.
  send({ id: 3, type: "cancel" });
  await waitForResponses(4);

  expect(responses.map(({ id, result }) => [id, result?.ok])).toEqual([
    [3, undefined],
    [1, true],
    [2, true],
    [4, true],
  ]);
});

test("a worker cancels a running task at the end of a step", async () => {
  const { responses, send, waitForResponses } = startWorker();
  send({ id: 1, type: "open", options: { modelsDir: DEFAULT_MODELS_DIR } });
  await waitForResponses(1);
  const options = { boxes: Array.from({ length: 16 }, () => FACES[3][0]!) };
  send({ id: 2, type: "run", job: { operation: "analyze", image: photograph(3), options } });
  send({ id: 2, type: "cancel" });
  await waitForResponses(2);
  expect(responses[1]).toMatchObject({ id: 2, result: { ok: false, error: { face: undefined } } });
});
