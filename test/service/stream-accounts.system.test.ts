import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import {
  AnalyzeImageRequestSchema,
  CompareFacesRequestSchema,
} from "../../gen/ts/visage/v1/face_analysis_pb.ts";
import type { AccountStore, User } from "../../src/accounts/account-store.ts";
import { openAccountStore } from "../../src/accounts/open-account-store.ts";
import type { RunningService } from "../../src/main.ts";
import { addTestUser } from "../support/accounts.ts";
import { type ImageStream, OPEN_STREAM } from "../support/image-streams.ts";
import { photograph } from "../support/images.ts";
import { startTestService } from "../support/service.ts";
import { createTypedClients } from "../support/typed-clients.ts";

const IMAGE = await sharp(photograph(3)).resize({ width: 480 }).jpeg().toBuffer();
const BROKEN = IMAGE.subarray(0, 500);
const NO_IMAGE = Buffer.from("This is no image.");
const FACES = 3;
const OPERATION = "visage.v1.analyze_images";

let service: RunningService;
/** The accounts of the service, opened as another process would. */
let store: AccountStore;
const dataDir = mkdtempSync(join(tmpdir(), "visage-stream-accounts-"));
beforeAll(async () => {
  service = await startTestService({ VISAGE_DATA_DIR: dataDir, VISAGE_WORKERS: "2" });
  store = await openAccountStore({ databaseUrl: undefined, dataDir });
});
afterAll(async () => {
  await store.close();
  await service.close();
  rmSync(dataDir, { recursive: true });
});

/** The stored usage of a user: the number of requests by operation and outcome. */
async function usageOf({ id }: User): Promise<Record<string, number>> {
  const usage = (await store.listUsage()).filter(({ userId }) => userId === id);
  return Object.fromEntries(usage.map(({ operation, outcome, count }) => [`${operation} ${outcome}`, count]));
}

const expectUsage = (user: User, usage: Record<string, number>) =>
  vi.waitFor(async () => expect(await usageOf(user)).toEqual(usage), { timeout: 20_000, interval: 100 });

function sendAll(stream: ImageStream, images: readonly Uint8Array[]): Promise<string> {
  for (const [i, image] of images.entries()) stream.send(`${i}`, image);
  stream.end();
  return stream.ended;
}

let users = 0;
const newUser = () => `stream-user-${++users}`;
const isRejected = ([, result]: readonly unknown[]) => result === "QUOTA_SPENT";

describe.each(Object.entries(OPEN_STREAM))("a stream over %s", (protocol, open) => {
  const openAs = (user: string) => open({ port: service.port, user });

  test.each([
    ["UNKNOWN_USER", "disabled", {}, { enabled: false }],
    ["NO_SUBSCRIPTION", "ended", {}, { endsAt: new Date("2021-01-01T00:00:00Z") }],
    ["QUOTA_SPENT", "spent", { requestsPerMonth: 0 }, {}],
  ])("ends with %s before its first image if the account is %s", async (reason, __, limits, changes) => {
    const name = newUser();
    await addTestUser(store, name, limits, changes);
    const stream = openAs(name);
    stream.send("0", IMAGE);
    expect(await stream.ended).toBe(reason);
    expect(stream.answers).toEqual([]);
  });

  test("counts each image once, with its outcome, and not itself", async () => {
    const name = newUser();
    const user = await addTestUser(store, name);
    expect(await sendAll(openAs(name), [IMAGE, BROKEN, IMAGE, NO_IMAGE])).toBe("ok");
    await expectUsage(user, {
      [`${OPERATION} ok`]: 2,
      [`${OPERATION} UNREADABLE_IMAGE`]: 1,
      [`${OPERATION} UNSUPPORTED_FORMAT`]: 1,
    });
  });

  test("whose quota is spent has as many successes as the quota, then errors for each image", async () => {
    const name = newUser();
    const user = await addTestUser(store, name, { requestsPerMonth: 5 });
    const stream = openAs(name);
    const images = Array.from({ length: 14 }, (__, i) => (i % 4 === 1 ? BROKEN : IMAGE));
    expect(await sendAll(stream, images)).toBe("ok");
    expect(stream.answers).toHaveLength(14);
    expect(stream.answers.filter(([, result]) => result === FACES)).toHaveLength(5);
    expect(stream.answers.filter(isRejected).length).toBeGreaterThanOrEqual(5);
    await expect.poll(async () => (await usageOf(user))[`${OPERATION} ok`]).toBe(5);
  });

  test("is as fast as its rate limit allows, and no image fails", async () => {
    const name = newUser();
    await addTestUser(store, name, { requestsPerSecond: 5, burst: 1 });
    const stream = openAs(name);
    const start = performance.now();
    // Images that fail count, too.
    const images = Array.from({ length: 15 }, (__, i) => (i % 3 === 0 ? IMAGE : NO_IMAGE));
    expect(await sendAll(stream, images)).toBe("ok");
    const seconds = (performance.now() - start) / 1000;
    const results = stream.answers.map(([, result]) => result);
    expect(results.toSorted()).toEqual([...Array(5).fill(FACES), ...Array(10).fill("UNSUPPORTED_FORMAT")]);
    expect(seconds).toBeGreaterThan(2.5);
    // One image a second would take 14.
    expect(seconds).toBeLessThan(14);
  });

  test("counts messages that are no requests, and its rate limit applies to them", async () => {
    const name = newUser();
    const user = await addTestUser(store, name, { requestsPerSecond: 5, burst: 1 });
    const stream = openAs(name);
    const start = performance.now();
    // An empty message over gRPC.
    for (let i = 0; i < 10; i++) stream.write(protocol === "gRPC" ? Buffer.alloc(5) : "nonsense\n");
    stream.end();
    expect(await stream.ended).toBe("ok");
    expect(stream.answers).toEqual(Array(10).fill(["", "BAD_REQUEST"]));
    expect(performance.now() - start).toBeGreaterThan(1_500);
    await expectUsage(user, { [`${OPERATION} BAD_REQUEST`]: 10 });
  });

  test("limits the size of its images to that of the plan", async () => {
    const name = newUser();
    await addTestUser(store, name, { maxImageBytes: IMAGE.length - 1 });
    const stream = openAs(name);
    expect(await sendAll(stream, [IMAGE, BROKEN])).toBe("ok");
    expect(Object.fromEntries(stream.answers)).toEqual({ 0: "IMAGE_TOO_LARGE", 1: "UNREADABLE_IMAGE" });
  });

  test("ends when its key is revoked", async () => {
    const name = newUser();
    const user = await addTestUser(store, name);
    const stream = openAs(name);
    let sent = 0;
    let hasEnded = false;
    const ended = stream.ended.finally(() => {
      hasEnded = true;
    });
    const answered = () => stream.answers.length === sent;
    const send = setInterval(() => !hasEnded && answered() && stream.send(`${sent++}`, IMAGE), 20);
    await vi.waitFor(() => expect(stream.answers.length).toBeGreaterThan(1), { timeout: 20_000 });
    await store.updateUser(user.id, { enabled: false });
    expect(await ended).toBe("UNKNOWN_USER");
    clearInterval(send);
    // The stream ends at once, or with the image that was under way.
    const results = stream.answers.map(([, result]) => result);
    if (results.at(-1) === "UNKNOWN_USER") results.pop();
    expect(new Set(results)).toEqual(new Set([FACES]));
  });
});

describe("the unary operations", () => {
  const image = { source: { case: "content", value: IMAGE } } as const;
  const ANALYZE = create(AnalyzeImageRequestSchema, { image });

  test.each([
    ["NO_SUBSCRIPTION", "ended", {}, { endsAt: new Date("2021-01-01T00:00:00Z") }],
    ["QUOTA_SPENT", "spent", { requestsPerMonth: 0 }, {}],
    ["UNKNOWN_USER", "disabled", {}, { enabled: false }],
  ])("respond %s if the account is %s, over every protocol", async (reason, name, limits, changes) => {
    const user = `unary-${name}`;
    await addTestUser(store, user, limits, changes);
    for (const client of createTypedClients(service.port, user))
      expect(await client.call("analyzeImage", ANALYZE), client.name).toEqual({ reason });
  });

  test("count one request each, also with two images", async () => {
    const name = newUser();
    const user = await addTestUser(store, name);
    const [client] = createTypedClients(service.port, name);
    const face = { source: { case: "image", value: image } } as const;
    await client!.call("analyzeImage", ANALYZE);
    await client!.call("compareFaces", create(CompareFacesRequestSchema, { source: face, target: face }));
    await expectUsage(user, { "visage.v1.analyze_image ok": 1, "visage.v1.compare_faces ok": 1 });
  });

  test("limit the size of images to that of the plan", async () => {
    const name = newUser();
    await addTestUser(store, name, { maxImageBytes: IMAGE.length - 1 });
    for (const client of createTypedClients(service.port, name))
      expect(await client.call("analyzeImage", ANALYZE), client.name).toEqual({ reason: "IMAGE_TOO_LARGE" });
  });
});

test("a request without a key is rejected", async () => {
  const response = await fetch(`http://127.0.0.1:${service.port}/v1/images:analyzeStream`, {
    method: "POST",
  });
  expect(response.status).toBe(401);
  expect(await response.json()).toMatchObject({ code: 16, reason: "NO_USER_ID" });
});
