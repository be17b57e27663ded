import { createReadStream, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { AccountStore } from "../../src/accounts/account-store.ts";
import { openAccountStore } from "../../src/accounts/open-account-store.ts";
import {
  createVisageClient,
  type ImageInput,
  type VisageClient,
  type VisageClientOptions,
  VisageError,
} from "../../src/client/visage-client.ts";
import type { RunningService } from "../../src/main.ts";
import { PACKAGE_ROOT } from "../../src/model-manifest.ts";
import { addTestUser } from "../support/accounts.ts";
import { FACES } from "../support/faces.ts";
import { startImageServer } from "../support/image-server.ts";
import { photograph } from "../support/images.ts";
import { startTestService, USER } from "../support/service.ts";

const PATH = join(PACKAGE_ROOT, "node_modules/@vladmandic/face-api/demo/sample3.jpg");
const PHOTO = photograph(3);

let service: RunningService;
/** The same accounts as the service has. */
let store: AccountStore;
const dataDir = mkdtempSync(join(tmpdir(), "visage-client-"));
beforeAll(async () => {
  service = await startTestService({ VISAGE_DATA_DIR: dataDir, VISAGE_FETCH_ALLOW: "127.0.0.1" });
  store = await openAccountStore({ databaseUrl: undefined, dataDir });
});
afterAll(async () => {
  await store.close();
  await service.close();
  rmSync(dataDir, { recursive: true });
});

function clientOf(options: Partial<VisageClientOptions> = {}): VisageClient {
  const address = `http://127.0.0.1:${service.port}`;
  const client = createVisageClient({ address, userId: USER, ...options });
  onTestFinished(() => client.close());
  return client;
}

async function errorOf(call: Promise<unknown>): Promise<VisageError> {
  const fault = await call.then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(fault).toBeInstanceOf(VisageError);
  return fault as VisageError;
}

describe("an image", () => {
  test.each<[string, () => ImageInput | Promise<ImageInput>]>([
    ["a path", () => ({ path: PATH })],
    ["bytes", () => new Uint8Array(PHOTO)],
    ["a Blob", () => new Blob([new Uint8Array(PHOTO)])],
    ["a stream of Node", () => createReadStream(PATH)],
    ["a stream of the web", () => new Blob([new Uint8Array(PHOTO)]).stream()],
    [
      "an address",
      async () => {
        const { port } = await startImageServer((_, response) => response.end(PHOTO));
        return { url: new URL(`http://127.0.0.1:${port}/photo.jpg`) };
      },
    ],
  ])("may be %s", async (_, input) => {
    const client = clientOf();
    const { vector, model } = await client.getFaceVec(await input(), { quality: true });
    const { data } = await client.raw.getFaceVec({ img: { source: { case: "content", value: PHOTO } } });
    expect([...vector]).toEqual(data!.vector);
    expect(model).not.toBe("");
  });

  test("is not text alone, which may be a path or an address", async () => {
    // @ts-expect-error The types say so too.
    await expect(clientOf().getFaceVec(PATH)).rejects.toThrow(TypeError);
  });

  test("that cannot be read fails as reading it does", async () => {
    await expect(clientOf().getFaceVec({ path: "no-such.jpg" })).rejects.toMatchObject({ code: "ENOENT" });
  });
});

test("two photographs match or do not, by the faces that boxes select", async () => {
  const client = clientOf();
  const [left, middle] = FACES[3] as [(typeof FACES)[3][0], (typeof FACES)[3][0]];
  const same = await client.matchFaces(PHOTO, { path: PATH }, { box1: left, box2: left });
  expect(same).toEqual({ distance: 0, isMatch: true });
  const others = await client.matchFaces(PHOTO, PHOTO, { box1: left, box2: middle });
  expect(others).toMatchObject({ isMatch: false });
  expect(others.distance).toBeGreaterThan(0.5);
});

test("every face is told, the most prominent first", async () => {
  const { width, height, faces } = await clientOf().getImageAttr(PHOTO);
  expect({ width, height, count: faces.length }).toEqual({ width: 1920, height: 1350, count: 3 });
  expect(Object.keys(faces[0]!.landmarks)).toHaveLength(68);
  const [again] = (await clientOf().getImageAttr(PHOTO, { boxes: [faces[0]!.box], detect: false })).faces;
  expect(again!.gender).toBe(faces[0]!.gender);
});

describe("an error", () => {
  test("of an image tells which and where", async () => {
    const error = await errorOf(clientOf().matchFaces(PHOTO, Buffer.from("no image")));
    expect(error).toMatchObject({
      kind: "UNSUPPORTED_FORMAT",
      code: "2004",
      image: "img_2",
      stage: "decode",
      retryable: false,
      message: expect.stringContaining("neither a JPEG nor a PNG"),
    });
  });

  test("of a user tells so", async () => {
    const error = await errorOf(clientOf({ userId: "unknown-user-of-tests" }).getFaceVec(PHOTO));
    expect(error).toMatchObject({ kind: "UNKNOWN_USER", code: "4002", retryable: false });
  });

  test("of a deadline comes in time", async () => {
    expect(await errorOf(clientOf({ timeoutMs: 1 }).getFaceVec(PHOTO))).toMatchObject({
      kind: "DEADLINE_PASSED",
    });
  });

  test("of a caller who gave up is no reason to try again", async () => {
    const call = clientOf().getFaceVec(PHOTO, { signal: AbortSignal.abort() });
    expect(await errorOf(call)).toMatchObject({ kind: "CANCELLED", retryable: false });
  });
});

describe("a call that fails in a way that may pass", () => {
  const timed = async <T>(call: Promise<T>) => {
    const start = performance.now();
    return { outcome: await call, milliseconds: performance.now() - start };
  };

  test("is made again after the wait that the service asks for", async () => {
    await addTestUser(store, "one-a-second", { requestsPerSecond: 1 });
    const client = clientOf({ userId: "one-a-second" });
    await client.getFaceVec(PHOTO);
    const calls = [1, 2].map(() => client.getFaceVec(PHOTO));
    const { milliseconds } = await timed(Promise.all(calls));
    expect(milliseconds).toBeGreaterThan(1000);
  });

  test("fails at once where the wait would last beyond the deadline", async () => {
    await addTestUser(store, "nothing-left", { requestsPerMonth: 0 });
    const { outcome, milliseconds } = await timed(
      errorOf(clientOf({ userId: "nothing-left" }).getFaceVec(PHOTO)),
    );
    expect(outcome).toMatchObject({ kind: "QUOTA_SPENT", code: "4004", retryable: true });
    expect(outcome.retryAfterMs).toBeGreaterThan(30_000);
    expect(milliseconds).toBeLessThan(5_000);
  });

  test("is made no more often than it may be", async () => {
    await addTestUser(store, "hurried", { requestsPerSecond: 0.01 });
    const client = clientOf({ userId: "hurried", retries: 0 });
    await client.getFaceVec(PHOTO);
    expect(await errorOf(client.getFaceVec(PHOTO))).toMatchObject({
      kind: "TOO_MANY_REQUESTS",
      retryable: true,
    });
  });

  test("ends when its caller gives up while it waits", async () => {
    await addTestUser(store, "giving-up", { requestsPerSecond: 0.1 });
    const client = clientOf({ userId: "giving-up" });
    await client.getFaceVec(PHOTO);
    const controller = new AbortController();
    const call = errorOf(client.getFaceVec(PHOTO, { signal: controller.signal }));
    setTimeout(() => controller.abort(), 500);
    const { outcome, milliseconds } = await timed(call);
    expect(outcome).toMatchObject({ kind: "CANCELLED" });
    expect(milliseconds).toBeLessThan(5_000);
  });

  describe("by a fault of the service's own", () => {
    /** Kills this many workers, each while it is at work. */
    const killWorkers = ({ pool }: RunningService, count: number) => {
      const killed = new Set<number>();
      const clock = setInterval(() => {
        const [pid] = pool.pids;
        if (pool.busy === 0 || pid === undefined || killed.has(pid) || killed.size === count) return;
        killed.add(pid);
        process.kill(pid, "SIGKILL");
      }, 2);
      onTestFinished(() => clearInterval(clock));
      return killed;
    };

    test("is made once more", async () => {
      const killed = killWorkers(service, 1);
      expect((await clientOf().getFaceVec(PHOTO)).vector).toHaveLength(128);
      expect(killed.size).toBe(1);
    });

    test("is not made a third time", async () => {
      const killed = killWorkers(service, 3);
      const error = await errorOf(clientOf({ retries: 5 }).getFaceVec(PHOTO));
      expect(error).toMatchObject({ kind: "INTERNAL", code: "5000", retryable: true });
      expect(killed.size).toBe(2);
    });
  });

  test("gets through to an overloaded service", async () => {
    const small = await startTestService({ VISAGE_MAX_QUEUE_WAIT_MS: "1" });
    onTestFinished(() => small.close());
    const address = `http://127.0.0.1:${small.port}`;
    const burst = (retries: number) =>
      Promise.allSettled(Array.from({ length: 6 }, () => clientOf({ address, retries }).getFaceVec(PHOTO)));
    const refused = (await burst(0)).filter(({ status }) => status === "rejected");
    expect(refused.length).toBeGreaterThan(0);
    expect(refused[0]).toMatchObject({
      reason: { kind: "OVERLOADED", code: "5001", retryAfterMs: expect.any(Number) },
    });
    expect((await burst(15)).filter(({ status }) => status === "rejected")).toEqual([]);
  });

  test("finds a service that starts meanwhile", async () => {
    const before = await startTestService();
    await before.close();
    const address = `http://127.0.0.1:${before.port}`;
    expect(await errorOf(clientOf({ address, retries: 0 }).getFaceVec(PHOTO))).toMatchObject({
      kind: "UNREACHABLE",
      code: undefined,
      retryable: true,
    });
    const call = clientOf({ address, retries: 8 }).getFaceVec(PHOTO);
    const after = await startTestService({ VISAGE_PORT: String(before.port) });
    onTestFinished(() => after.close());
    expect((await call).vector).toHaveLength(128);
  });
});
