import { describe, expect, onTestFinished, test, vi } from "vitest";
import { Queue, QueueError } from "../../src/core/queue.ts";

const REASON = new Error("the caller has gone");

/** A queue with one server, which is lent. */
async function busyQueue(limit: number): Promise<Queue<string>> {
  const queue = new Queue<string>(limit);
  queue.offer("server");
  await queue.acquire();
  return queue;
}

describe("a queue", () => {
  test("gives an idle server at once, also where nobody may wait", async () => {
    const queue = new Queue<string>(0);
    queue.offer("server");
    expect(queue.busy).toBe(0);
    expect(await queue.acquire()).toBe("server");
    expect(queue.busy).toBe(1);
    expect(queue.waiting).toBe(0);
  });

  test("serves in the order of arrival", async () => {
    const queue = await busyQueue(3);
    const served: number[] = [];
    const all = [1, 2, 3].map((number) => queue.acquire().then(() => served.push(number)));
    expect(queue.waiting).toBe(3);
    for (const one of all) {
      queue.offer("server");
      await one;
    }
    expect(served).toEqual([1, 2, 3]);
    expect(queue.waiting).toBe(0);
    expect(queue.busy).toBe(1);
  });

  test("refuses at once when as many wait as may", async () => {
    const queue = await busyQueue(1);
    const waiting = queue.acquire();
    const refused = queue.acquire();
    await expect(refused).rejects.toBeInstanceOf(QueueError);
    await expect(refused).rejects.toMatchObject({ name: "QueueError", kind: "overloaded" });
    queue.offer("server");
    expect(await waiting).toBe("server");
  });

  test("lets callers take turns, however many each has waiting", async () => {
    const queue = await busyQueue(10);
    const served: string[] = [];
    for (const caller of ["heavy", "heavy", "heavy", "light", "heavy", "other"])
      void queue.acquire({ caller }).then(() => served.push(caller));
    for (let turn = 0; turn < 6; turn++) {
      queue.offer("server");
      await Promise.resolve();
    }
    await vi.waitFor(() => expect(served).toEqual(["heavy", "light", "other", "heavy", "heavy", "heavy"]));
  });

  test("takes a place from the caller who has most, for one who has fewer", async () => {
    const queue = await busyQueue(2);
    const first = queue.acquire({ caller: "heavy" });
    const last = queue.acquire({ caller: "heavy" });
    expect(["heavy", "light"].map((caller) => queue.hasRoomFor(caller))).toEqual([false, true]);
    await expect(queue.acquire({ caller: "heavy" })).rejects.toMatchObject({ kind: "overloaded" });
    const light = queue.acquire({ caller: "light" });
    await expect(last).rejects.toMatchObject({ kind: "overloaded" });
    await expect(queue.acquire({ caller: "other" })).rejects.toMatchObject({ kind: "overloaded" });
    queue.offer("server");
    expect(await first).toBe("server");
    queue.offer("server");
    expect(await light).toBe("server");
  });

  test("takes a burst, but lets only a few wait once it has not been empty for a while", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    onTestFinished(() => void vi.useRealTimers());
    const queue = await busyQueue(100);
    vi.advanceTimersByTime(100);
    queue.offer("server");
    await queue.acquire();
    const burst = Array.from({ length: 20 }, () => queue.acquire());
    vi.advanceTimersByTime(4 * 100);
    burst.push(queue.acquire());
    expect(queue.waiting).toBe(21);
    vi.advanceTimersByTime(1);
    await expect(queue.acquire()).rejects.toMatchObject({ kind: "overloaded" });
    for (const one of burst) {
      queue.offer("server");
      await one;
    }
    void queue.acquire();
    expect(queue.waiting).toBe(1);
  });

  test("refuses at once one whose turn would come too late", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    onTestFinished(() => void vi.useRealTimers());
    const queue = await busyQueue(100);
    vi.advanceTimersByTime(100);
    queue.offer("server");
    await queue.acquire();
    void queue.acquire();
    // One waits already: a turn comes after about 200 ms.
    const nowMs = performance.now();
    await expect(queue.acquire({ deadlineMs: nowMs + 150 })).rejects.toMatchObject({ kind: "overloaded" });
    void queue.acquire({ deadlineMs: nowMs + 250 });
    expect(queue.waiting).toBe(2);
  });

  test("lets go of one whose signal is aborted, and serves the next", async () => {
    const queue = await busyQueue(2);
    const controller = new AbortController();
    const leaving = queue.acquire({ signal: controller.signal });
    const staying = queue.acquire();
    controller.abort(REASON);
    expect(queue.waiting).toBe(1);
    await expect(leaving).rejects.toBe(REASON);
    queue.offer("server");
    expect(await staying).toBe("server");
  });

  test("gives nothing to a signal that was aborted before", async () => {
    const queue = new Queue<string>(1);
    queue.offer("server");
    await expect(queue.acquire({ signal: AbortSignal.abort(REASON) })).rejects.toBe(REASON);
    expect(queue.busy).toBe(0);
    expect(await queue.acquire()).toBe("server");
  });

  test("keeps a server where its signal is aborted after it was given", async () => {
    const queue = await busyQueue(1);
    const controller = new AbortController();
    const served = queue.acquire({ signal: controller.signal });
    queue.offer("server");
    controller.abort(REASON);
    expect(await served).toBe("server");
    expect(queue.busy).toBe(1);
  });

  test("gives nobody a server that was withdrawn", async () => {
    const queue = new Queue<string>(1);
    queue.offer("lost");
    queue.withdraw("lost");
    const waiting = queue.acquire();
    queue.offer("new");
    expect(await waiting).toBe("new");
  });
});

describe("closing a queue", () => {
  test("refuses those who wait and those who come", async () => {
    const queue = await busyQueue(1);
    const waiting = queue.acquire();
    void queue.close();
    await expect(waiting).rejects.toMatchObject({ kind: "closed" });
    await expect(queue.acquire()).rejects.toMatchObject({ kind: "closed" });
    expect(queue.waiting).toBe(0);
  });

  test.each(["offer", "withdraw"] as const)("waits for each lent server until its %s", async (way) => {
    const queue = await busyQueue(1);
    let closed = false;
    const closing = queue.close().then(() => {
      closed = true;
    });
    await new Promise(setImmediate);
    expect(closed).toBe(false);
    queue[way]("server");
    await closing;
    await queue.close();
  });
});
