import { EventEmitter, once } from "node:events";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { type ManagedService, runUntilStopped } from "../../src/cli/service-lifecycle.ts";
import type { Log } from "../../src/telemetry/log.ts";

/** Ends the grace period of requests in flight. Tests never wait for it. */
const grace = vi.hoisted(() => ({ end: (_: undefined) => {}, durationMs: 0 }));
vi.mock("node:timers/promises", () => ({
  setTimeout: (durationMs: number) =>
    new Promise((resolve) => {
      Object.assign(grace, { end: resolve, durationMs });
    }),
}));

/** A promise with the function that resolves it. */
function createPending<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve = (_: T) => {};
  const promise = new Promise<T>((resolvePromise) => {
    resolve = resolvePromise;
  });
  return { promise, resolve };
}

/** A process whose signals and errors are emitted by the test. */
class TestProcess extends EventEmitter {
  readonly exitCodes: number[] = [];

  exit(code: number): void {
    this.exitCodes.push(code);
    this.emit("exit", code);
  }
}

const DRAIN_MS = 2000;

let calls: string[];
let events: unknown[];
let testProcess: TestProcess;
let log: Log;
/** Ends the requests in flight, which `close` waits for. */
let finishRequests: () => void;
let service: ManagedService;

beforeEach(() => {
  calls = [];
  events = [];
  testProcess = new TestProcess();
  const { promise, resolve } = createPending<void>();
  finishRequests = resolve;
  const record = (fields: Readonly<Record<string, unknown>>) => void events.push(fields);
  const flush = async () => void calls.push("flush");
  log = { info: record, warn: record, error: record, droppedLines: 0, flush };
  service = {
    drain: async (noticeMs) => void calls.push(`drain ${noticeMs}`),
    reload: async () => void calls.push("reload"),
    close: () => {
      calls.push("close");
      return promise;
    },
  };
});

function run(start: () => Promise<ManagedService> = async () => service): Promise<void> {
  return runUntilStopped({
    start,
    onStarted: () => calls.push("started"),
    drainMs: DRAIN_MS,
    log,
    process: testProcess,
  });
}

async function runStarted(): Promise<{ stopped: Promise<void> }> {
  const stopped = run();
  await expect.poll(() => calls).toEqual(["started"]);
  return { stopped };
}

test("SIGTERM drains, then closes", async () => {
  const { stopped } = await runStarted();
  testProcess.emit("SIGTERM", "SIGTERM");
  finishRequests();
  await stopped;
  expect(calls).toEqual(["started", `drain ${DRAIN_MS}`, "close", "flush"]);
});

test("SIGINT closes without draining", async () => {
  const { stopped } = await runStarted();
  testProcess.emit("SIGINT", "SIGINT");
  finishRequests();
  await stopped;
  expect(calls).toEqual(["started", "close", "flush"]);
});

test("a second signal ends the process immediately", async () => {
  await runStarted();
  testProcess.emit("SIGINT", "SIGINT");
  await expect.poll(() => calls).toContain("close");
  expect(testProcess.exitCodes).toEqual([]);
  testProcess.emit("SIGTERM", "SIGTERM");
  expect(testProcess.exitCodes).toEqual([1]);
});

test("a failed start is thrown", async () => {
  await expect(run(async () => Promise.reject(new Error("The port is in use")))).rejects.toThrow(
    "The port is in use",
  );
  expect(calls).toEqual([]);
  testProcess.emit("SIGHUP", "SIGHUP");
  expect(testProcess.exitCodes).toEqual([]);
});

describe("while the service starts", () => {
  test.each(["SIGTERM", "SIGINT"])("%s closes it as soon as it has started", async (signal) => {
    const { promise, resolve } = createPending<ManagedService>();
    const stopped = run(() => promise);
    testProcess.emit(signal, signal);
    await Promise.resolve();
    resolve(service);
    finishRequests();
    await stopped;
    expect(calls).toEqual(["close", "flush"]);
  });

  test("SIGHUP reloads after the start", async () => {
    const { promise, resolve } = createPending<ManagedService>();
    const stopped = run(() => promise);
    testProcess.emit("SIGHUP", "SIGHUP");
    resolve(service);
    await expect.poll(() => calls.toSorted()).toEqual(["reload", "started"]);
    testProcess.emit("SIGINT", "SIGINT");
    finishRequests();
    await stopped;
  });
});

describe("an unhandled error", () => {
  test.each([
    ["uncaughtException", "uncaught exception"],
    ["unhandledRejection", "unhandled rejection"],
  ])("(%s) ends the process after the requests in flight have finished", async (name, event) => {
    await runStarted();
    testProcess.emit(name, new Error("a bug"));
    await expect.poll(() => calls).toEqual(["started", "close"]);
    expect(events).toEqual([{ event, cause: expect.stringMatching(/^Error: a bug\n +at /) }]);
    expect(testProcess.exitCodes).toEqual([]);
    finishRequests();
    await once(testProcess, "exit");
    expect(calls).toEqual(["started", "close", "flush"]);
    expect(testProcess.exitCodes).toEqual([1]);
  });

  test("ends the process after a grace period even if requests are in flight", async () => {
    await runStarted();
    testProcess.emit("uncaughtException", new Error("a bug"));
    await expect.poll(() => calls).toEqual(["started", "close"]);
    expect(grace.durationMs).toBe(5000);
    grace.end(undefined);
    await once(testProcess, "exit");
    expect(testProcess.exitCodes).toEqual([1]);
  });

  test("is logged even if it is not the first", async () => {
    await runStarted();
    testProcess.emit("uncaughtException", new Error("a bug"));
    testProcess.emit("unhandledRejection", "another");
    expect(events).toEqual([
      { event: "uncaught exception", cause: expect.stringContaining("a bug") },
      { event: "unhandled rejection", cause: "another" },
    ]);
    finishRequests();
    await once(testProcess, "exit");
    expect(testProcess.exitCodes).toEqual([1]);
  });

  test("of the shutdown is logged", async () => {
    service = { ...service, close: async () => Promise.reject(new Error("stuck")) };
    await runStarted();
    testProcess.emit("uncaughtException", new Error("a bug"));
    await once(testProcess, "exit");
    expect(events[1]).toEqual({ event: "shutdown failed", cause: "Error: stuck" });
  });
});
