import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ErrorInfoSchema } from "../../gen/ts/google/rpc/error_details_pb.ts";
import { type Call, type CallLimits, CallRunner } from "../../src/client/call-runner.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function createRunner(limits: Partial<CallLimits> = {}): CallRunner {
  return new CallRunner({ timeoutMs: 1_000, retries: 2, maxInFlight: 2, ...limits });
}

/** A call that sends nothing. */
function callThat(steps: Partial<Call<void, void>>): Call<void, void> {
  return { prepare: async () => {}, send: async () => {}, ...steps };
}

/** An error as the service sends it. */
function serviceError(reason: string, retryable: boolean): ConnectError {
  const info = create(ErrorInfoSchema, { reason, metadata: { retryable: String(retryable) } });
  return new ConnectError("Some sentence.", Code.Unavailable, undefined, [
    { desc: ErrorInfoSchema, value: info },
  ]);
}

/** Waits until the signal of a call is aborted. */
function untilAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
}

describe("the calls in flight", () => {
  test("are limited, start in order and read their images only when they start", async () => {
    const runner = createRunner({ maxInFlight: 3 });
    const started: number[] = [];
    let inFlight = 0;
    let most = 0;
    const run = (id: number) =>
      runner.run(
        undefined,
        callThat({
          prepare: async () => {
            started.push(id);
            most = Math.max(most, ++inFlight);
          },
          send: async () => {
            await new Promise((resolve) => setTimeout(resolve, 10));
            inFlight--;
          },
        }),
      );
    const calls = Array.from({ length: 100 }, (_, id) => run(id));
    await vi.advanceTimersByTimeAsync(5);
    expect(started).toEqual([0, 1, 2]);
    await vi.advanceTimersByTimeAsync(1_000);
    await Promise.all(calls);
    expect(started).toEqual(Array.from({ length: 100 }, (_, id) => id));
    expect(most).toBe(3);
  });

  test("do not count the time of waiting against the deadline", async () => {
    const runner = createRunner({ maxInFlight: 1, timeoutMs: 100 });
    const call = callThat({ send: () => new Promise((resolve) => setTimeout(resolve, 60)) });
    const calls = Promise.all(Array.from({ length: 50 }, () => runner.run(undefined, call)));
    await vi.advanceTimersByTimeAsync(50 * 60);
    await calls;
  });

  test("include a call that waits for its retry", async () => {
    const runner = createRunner({ maxInFlight: 1 });
    const events: string[] = [];
    let attempts = 0;
    const first = runner.run(
      undefined,
      callThat({
        send: async () => {
          events.push("first");
          if (attempts++ === 0) throw new ConnectError("lost", Code.Unavailable);
        },
      }),
    );
    const second = runner.run(undefined, callThat({ send: async () => void events.push("second") }));
    await vi.advanceTimersByTimeAsync(1_000);
    await Promise.all([first, second]);
    expect(events).toEqual(["first", "first", "second"]);
  });

  test.each(["OVERLOADED", "TOO_MANY_REQUESTS", "TOO_MANY_IN_FLIGHT"])(
    "are fewer while the service rejects calls with %s, and all succeed",
    async (reason) => {
      // A service that accepts one call a second and rejects the others.
      const runner = createRunner({ maxInFlight: 32, retries: 1, timeoutMs: 30_000 });
      let acceptsAt = 0;
      let rejected = 0;
      const call = callThat({
        send: async () => {
          if (performance.now() < acceptsAt) {
            rejected++;
            throw serviceError(reason, true);
          }
          acceptsAt = performance.now() + 1_000;
        },
      });
      let isDone = false;
      const calls = Promise.all(Array.from({ length: 200 }, () => runner.run(undefined, call))).then(() => {
        isDone = true;
      });
      while (!isDone) await vi.advanceTimersByTimeAsync(1_000);
      await calls;
      // Without adapting, 32 calls would be rejected again and again: thousands of times.
      expect(rejected).toBeLessThan(200 * 8);
    },
  );
});

describe("a call", () => {
  test("that is cancelled while it waits reads nothing and takes no slot", async () => {
    const runner = createRunner({ maxInFlight: 1 });
    const send = () => new Promise<void>((resolve) => setTimeout(resolve, 10));
    const first = runner.run(undefined, callThat({ send }));
    const controller = new AbortController();
    const prepare = vi.fn(async () => {});
    const waiting = runner.run(controller.signal, callThat({ prepare }));
    const last = runner.run(undefined, callThat({}));
    controller.abort(new Error("enough"));
    await expect(waiting).rejects.toMatchObject({ reason: "CANCELLED", cause: { message: "enough" } });
    expect(prepare).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(10);
    await Promise.all([first, last]);
  });

  test("that is cancelled before it starts reads nothing", async () => {
    const prepare = vi.fn(async () => {});
    const call = createRunner().run(AbortSignal.abort(), callThat({ prepare }));
    await expect(call).rejects.toMatchObject({ reason: "CANCELLED", retryable: false });
    expect(prepare).not.toHaveBeenCalled();
  });

  test("that is cancelled during its retry delay ends at once", async () => {
    const controller = new AbortController();
    const send = vi.fn(() => Promise.reject(new ConnectError("lost", Code.Unavailable)));
    const call = createRunner().run(controller.signal, callThat({ send }));
    const rejection = expect(call).rejects.toMatchObject({ reason: "CANCELLED" });
    await vi.advanceTimersByTimeAsync(10);
    controller.abort();
    await rejection;
    expect(send).toHaveBeenCalledTimes(1);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("that never reads its image ends at the deadline and frees its slot", async () => {
    const runner = createRunner({ maxInFlight: 1 });
    const stalled = runner.run(undefined, callThat({ prepare: () => new Promise(() => {}) }));
    const rejection = expect(stalled).rejects.toMatchObject({ reason: "DEADLINE_PASSED" });
    const next = runner.run(undefined, callThat({}));
    await vi.advanceTimersByTimeAsync(1_000);
    await rejection;
    await next;
  });

  test("that cannot read its image rejects with that error and frees its slot", async () => {
    const runner = createRunner({ maxInFlight: 1 });
    const failing = runner.run(
      undefined,
      callThat({ prepare: () => Promise.reject(new Error("no such file")) }),
    );
    await expect(failing).rejects.toThrow("no such file");
    await runner.run(undefined, callThat({}));
  });

  test("is not retried after an error that a retry cannot help against", async () => {
    const send = vi.fn(() => Promise.reject(serviceError("URL_UNREACHABLE", false)));
    await expect(createRunner().run(undefined, callThat({ send }))).rejects.toMatchObject({
      reason: "URL_UNREACHABLE",
      retryable: false,
    });
    expect(send).toHaveBeenCalledTimes(1);
  });

  test("leaves no listener on its signal and no timer behind", async () => {
    const { signal } = new AbortController();
    const added = vi.spyOn(signal, "addEventListener");
    const removed = vi.spyOn(signal, "removeEventListener");
    const runner = createRunner();
    await Promise.all(Array.from({ length: 20 }, () => runner.run(signal, callThat({}))));
    // Node warns of more than ten listeners.
    expect(added).toHaveBeenCalledTimes(1);
    expect(removed.mock.calls).toEqual(added.mock.calls);
    expect(vi.getTimerCount()).toBe(0);
  });
});

test("a runner that is closed while the service rejects its calls leaves no timer behind", async () => {
  const runner = createRunner({ maxInFlight: 4, timeoutMs: 30_000 });
  const call = callThat({ send: () => Promise.reject(serviceError("OVERLOADED", true)) });
  const calls = Promise.allSettled(Array.from({ length: 9 }, () => runner.run(undefined, call)));
  await vi.advanceTimersByTimeAsync(2_000);
  runner.close();
  for (const result of await calls) expect(result).toMatchObject({ reason: { reason: "CANCELLED" } });
  expect(vi.getTimerCount()).toBe(0);
});

test("a closed runner cancels the calls that wait, are in flight or follow", async () => {
  const runner = createRunner({ maxInFlight: 1 });
  const call = callThat({ send: (_, { signal }) => untilAbort(signal!) });
  const calls = Promise.allSettled([runner.run(undefined, call), runner.run(undefined, call)]);
  await vi.advanceTimersByTimeAsync(0);
  runner.close();
  for (const result of [...(await calls), ...(await Promise.allSettled([runner.run(undefined, call)]))])
    expect(result).toMatchObject({ reason: { reason: "CANCELLED", message: "The client is closed." } });
  expect(vi.getTimerCount()).toBe(0);
});

test.each([
  ["OVERLOADED", 2],
  ["DRAINING", 2],
  ["INTERNAL", 1],
  ["GALLERIES_UNAVAILABLE", 1],
])("a call that may not run twice is sent again only if it was not processed: %s", async (reason, times) => {
  let sent = 0;
  const send = async () => {
    if (++sent === 1) throw serviceError(reason, true);
  };
  const settled = createRunner()
    .run(undefined, callThat({ send, isIdempotent: false }))
    .catch(() => {});
  await vi.advanceTimersByTimeAsync(900);
  await settled;
  expect(sent).toBe(times);
});
