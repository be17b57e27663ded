import { fork } from "node:child_process";
import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { DEFAULT_MODELS_DIR } from "../../src/model-manifest.ts";
import type { Answer, Request } from "../../src/workers/worker-messages.ts";
import { FACES } from "../support/faces.ts";
import { photograph } from "../support/images.ts";

const PROGRAM = new URL("../../dist/src/workers/worker.js", import.meta.url);

/** Starts a worker as the pool does; returns how to send to it, and its answers so far. */
function startWorker() {
  const worker = fork(PROGRAM, { serialization: "advanced" });
  onTestFinished(async () => {
    worker.disconnect();
    await once(worker, "exit");
  });
  const answers: Answer[] = [];
  worker.on("message", (answer: Answer) => answers.push(answer));
  return {
    answers,
    send: (request: Request) => worker.send(request),
    untilAnswers: async (count: number) => {
      while (answers.length < count) await once(worker, "message");
    },
  };
}

test("a worker answers for every task in its order, but at once for one that it leaves before it has begun", async () => {
  const { answers, send, untilAnswers } = startWorker();
  const job = { operation: "embed", image: photograph(3), options: {} } as const;

  send({ number: 1, type: "open", options: { modelsDir: DEFAULT_MODELS_DIR } });
  for (const number of [2, 3, 4]) send({ number, type: "run", job });
  send({ number: 3, type: "leave" });
  // Left already: there is nothing more to say of it.
  send({ number: 3, type: "leave" });
  await untilAnswers(4);

  expect(answers.map(({ number, reply }) => [number, reply?.ok])).toEqual([
    [3, undefined],
    [1, true],
    [2, true],
    [4, true],
  ]);
});

test("a worker leaves a task that it has begun at the end of a step", async () => {
  const { answers, send, untilAnswers } = startWorker();
  send({ number: 1, type: "open", options: { modelsDir: DEFAULT_MODELS_DIR } });
  await untilAnswers(1);
  const options = { boxes: Array.from({ length: 16 }, () => FACES[3][0]!) };
  send({ number: 2, type: "run", job: { operation: "analyze", image: photograph(3), options } });
  send({ number: 2, type: "leave" });
  await untilAnswers(2);
  expect(answers[1]).toMatchObject({ number: 2, reply: { ok: false, error: { face: undefined } } });
});
