import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openAccountStore } from "../../src/accounts/open-account-store.ts";
import type { RunningService } from "../../src/main.ts";
import { addTestUser } from "../support/accounts.ts";
import { type ImageStream, openGrpcStream } from "../support/image-streams.ts";
import { photograph } from "../support/images.ts";
import { startTestService, USER } from "../support/service.ts";

const IMAGE = await sharp(photograph(3)).resize({ width: 480 }).jpeg().toBuffer();
const OTHER_USER = "another-user-of-streams";

let service: RunningService;
const dataDir = mkdtempSync(join(tmpdir(), "visage-fairness-"));
beforeAll(async () => {
  service = await startTestService({ VISAGE_DATA_DIR: dataDir, VISAGE_WORKERS: "1" });
  const store = await openAccountStore({ databaseUrl: undefined, dataDir });
  await addTestUser(store, OTHER_USER);
  await store.close();
});
afterAll(async () => {
  await service.close();
  rmSync(dataDir, { recursive: true });
});

/** Opens a stream that always has more images to send. */
function openBusyStream(user: string): ImageStream {
  const stream = openGrpcStream({ port: service.port, user });
  let sent = 0;
  const send = () => {
    while (stream.send(`${sent++}`, IMAGE));
    stream.onDrain(send);
  };
  send();
  return stream;
}

async function callUnary(user: string): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${service.port}/v1/images:analyze`, {
    method: "POST",
    headers: { "x-api-key": user, "content-type": "application/json" },
    body: JSON.stringify({ image: IMAGE.toString("base64") }),
  });
  await response.arrayBuffer();
  return response.status;
}

test("a stream and the single requests of another user do not starve each other", async () => {
  const stream = openBusyStream(USER);
  expect(await callUnary(OTHER_USER)).toBe(200);
  const before = stream.answers.length;
  for (let i = 0; i < 20; i++) expect(await callUnary(OTHER_USER)).toBe(200);
  const answers = stream.answers.length - before;
  stream.close();
  // While a request is on its way, the stream may get a second turn.
  expect(answers).toBeGreaterThanOrEqual(15);
  expect(answers).toBeLessThanOrEqual(65);
});

test("two streams of two users share a worker evenly, however many streams one of them has", async () => {
  const [one, ...others] = [USER, OTHER_USER, OTHER_USER, OTHER_USER].map(openBusyStream);
  const answersOf = (streams: readonly ImageStream[]) =>
    streams.reduce((sum, { answers }) => sum + answers.length, 0);
  const count = () => ({ one: answersOf([one!]), others: answersOf(others) });
  while (answersOf([one!, ...others]) < 10) await new Promise((resolve) => setTimeout(resolve, 20));
  const before = count();
  while (answersOf([one!, ...others]) < 90) await new Promise((resolve) => setTimeout(resolve, 20));
  const after = count();
  for (const stream of [one!, ...others]) stream.close();
  const share = (after.one - before.one) / 80;
  expect(share).toBeGreaterThan(0.38);
  expect(share).toBeLessThan(0.62);
});
