import { fork } from "node:child_process";
import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { DEFAULT_MODELS_DIR } from "../../models/manifest.ts";
import type { Answer, Request } from "../../src/core/worker-messages.ts";
import { photograph } from "../support/images.ts";

const PROGRAM = new URL("../../dist/src/core/worker.js", import.meta.url);

test("a worker answers for every task in its order, but at once for one that it leaves before it has begun", async () => {
  const worker = fork(PROGRAM, { serialization: "advanced" });
  onTestFinished(async () => {
    worker.disconnect();
    await once(worker, "exit");
  });
  const answers: Answer[] = [];
  worker.on("message", (answer: Answer) => answers.push(answer));
  const send = (request: Request) => worker.send(request);
  const job = { operation: "embed", image: photograph(3), options: {} } as const;

  send({ number: 1, type: "open", options: { modelsDir: DEFAULT_MODELS_DIR } });
  for (const number of [2, 3, 4]) send({ number, type: "run", job });
  send({ number: 3, type: "leave" });
  // Left already: there is nothing more to say of it.
  send({ number: 3, type: "leave" });
  while (answers.length < 4) await once(worker, "message");

  expect(answers.map(({ number, reply }) => [number, reply?.ok])).toEqual([
    [3, undefined],
    [1, true],
    [2, true],
    [4, true],
  ]);
});
