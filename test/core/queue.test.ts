import { setImmediate as settle } from "node:timers/promises";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { Queue, QueueError, type Turn } from "../../src/core/queue.ts";

const REASON = new Error("the caller has gone");

function takesNoneBack(server: string): void {
  expect.fail(`a turn of ${server} is taken back`);
}

/** A queue with one server, and the turn that this is at. */
async function busyQueue(limit: number): Promise<{ queue: Queue<string>; turn: Turn<string> }> {
  const queue = new Queue<string>(limit, takesNoneBack);
  queue.offer("server");
  return { queue, turn: await queue.acquire() };
}

/** A queue and its servers, which do their turns in order, and give back what has not begun. */
class Shop {
  readonly served: string[] = [];
  readonly queue = new Queue<string>(100, (server) => this.#giveBack(server));
  readonly #given = new Map<string, { readonly caller: string; readonly turn: Turn<string> }[]>();

  constructor(...servers: string[]) {
    for (const server of servers) {
      this.#given.set(server, []);
      this.queue.offer(server);
    }
  }

  /** Lets callers come, one after another. */
  async visit(...callers: string[]): Promise<void> {
    for (const caller of callers) {
      this.#come(caller, false).catch(() => {});
      await settle();
    }
  }

  /** Lets a server end what it is at. */
  async end(server: string): Promise<void> {
    const { caller, turn } = this.#given.get(server)!.shift()!;
    expect(turn.beganMs).toBeDefined();
    this.served.push(caller);
    this.queue.end(turn);
    await settle();
  }

  /** Whose turns a server has, the first begun. */
  at(server: string): string[] {
    return this.#given.get(server)!.map(({ caller }) => caller);
  }

  async #come(caller: string, again: boolean): Promise<void> {
    const turn = await this.queue.acquire({ caller, again });
    this.#given.get(turn.server)!.push({ caller, turn });
  }

  #giveBack(server: string): void {
    const { caller, turn } = this.#given.get(server)!.pop()!;
    void settle().then(() => {
      this.queue.end(turn);
      return this.#come(caller, true);
    });
  }
}

describe("a queue", () => {
  test("gives an idle server at once, also where nobody may wait", async () => {
    const queue = new Queue<string>(0, takesNoneBack);
    queue.offer("server");
    expect(queue.busy).toBe(0);
    const turn = await queue.acquire();
    expect(turn.server).toBe("server");
    expect(turn.beganMs).toBeDefined();
    expect(queue.busy).toBe(1);
    expect(queue.waiting).toBe(0);
  });

  test("serves in the order of arrival", async () => {
    let { queue, turn } = await busyQueue(3);
    const all = [1, 2, 3].map(() => queue.acquire());
    expect(queue.waiting).toBe(3);
    for (const [i, one] of all.entries()) {
      queue.end(turn);
      turn = await one;
      expect(turn.beganMs).toBeDefined();
      expect(queue.waiting).toBe(2 - i);
    }
    expect(queue.busy).toBe(1);
    queue.end(turn);
    expect(queue.busy).toBe(0);
  });

  test("refuses at once when as many wait as may", async () => {
    const { queue, turn } = await busyQueue(1);
    const waiting = queue.acquire();
    const refused = queue.acquire();
    await expect(refused).rejects.toBeInstanceOf(QueueError);
    await expect(refused).rejects.toMatchObject({ name: "QueueError", kind: "overloaded" });
    queue.end(turn);
    expect((await waiting).server).toBe("server");
  });

  test("lets callers take turns, however many each has waiting", async () => {
    const shop = new Shop("server");
    await shop.visit("first", "heavy", "heavy", "heavy", "light", "heavy", "other");
    for (let turn = 0; turn < 7; turn++) await shop.end("server");
    expect(shop.served).toEqual(["first", "light", "heavy", "other", "heavy", "heavy", "heavy"]);
  });

  test("takes a place from the caller who has most, for one who has fewer", async () => {
    const { queue, turn } = await busyQueue(2);
    const first = queue.acquire({ caller: "heavy" });
    const last = queue.acquire({ caller: "heavy" });
    expect(["heavy", "light"].map((caller) => queue.hasRoomFor(caller))).toEqual([false, true]);
    await expect(queue.acquire({ caller: "heavy" })).rejects.toMatchObject({ kind: "overloaded" });
    const light = queue.acquire({ caller: "light" });
    await expect(last).rejects.toMatchObject({ kind: "overloaded" });
    await expect(queue.acquire({ caller: "other" })).rejects.toMatchObject({ kind: "overloaded" });
    queue.end(turn);
    queue.end(await first);
    expect((await light).beganMs).toBeDefined();
  });

  test("takes a burst, but lets only a few wait once it has not been empty for a while", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    onTestFinished(() => void vi.useRealTimers());
    let { queue, turn } = await busyQueue(100);
    vi.advanceTimersByTime(100);
    queue.end(turn);
    turn = await queue.acquire();
    const burst = Array.from({ length: 20 }, () => queue.acquire());
    vi.advanceTimersByTime(4 * 100);
    burst.push(queue.acquire());
    expect(queue.waiting).toBe(21);
    vi.advanceTimersByTime(1);
    await expect(queue.acquire()).rejects.toMatchObject({ kind: "overloaded" });
    for (const one of burst) {
      queue.end(turn);
      turn = await one;
    }
    void queue.acquire();
    expect(queue.waiting).toBe(1);
  });

  test("refuses at once one whose turn would come too late", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    onTestFinished(() => void vi.useRealTimers());
    const { queue, turn } = await busyQueue(100);
    vi.advanceTimersByTime(100);
    queue.end(turn);
    await queue.acquire();
    void queue.acquire();
    // One waits already: a turn comes after about 200 ms.
    const nowMs = performance.now();
    await expect(queue.acquire({ deadlineMs: nowMs + 150 })).rejects.toMatchObject({ kind: "overloaded" });
    void queue.acquire({ deadlineMs: nowMs + 250 });
    expect(queue.waiting).toBe(2);
    // One of them was given its turn ahead, and waits all the same.
    await expect(queue.acquire({ deadlineMs: nowMs + 250 })).rejects.toMatchObject({ kind: "overloaded" });
  });

  test("lets go of one whose signal is aborted, and serves the next", async () => {
    const { queue, turn } = await busyQueue(3);
    const controller = new AbortController();
    const ahead = queue.acquire();
    const leaving = queue.acquire({ signal: controller.signal });
    const staying = queue.acquire();
    controller.abort(REASON);
    expect(queue.waiting).toBe(2);
    await expect(leaving).rejects.toBe(REASON);
    queue.end(turn);
    queue.end(await ahead);
    expect((await staying).beganMs).toBeDefined();
  });

  test("gives nothing to a signal that was aborted before", async () => {
    const queue = new Queue<string>(1, takesNoneBack);
    queue.offer("server");
    await expect(queue.acquire({ signal: AbortSignal.abort(REASON) })).rejects.toBe(REASON);
    expect(queue.busy).toBe(0);
    expect((await queue.acquire()).server).toBe("server");
  });

  test("keeps a server where its signal is aborted after it was given", async () => {
    const { queue, turn } = await busyQueue(1);
    const controller = new AbortController();
    const served = queue.acquire({ signal: controller.signal });
    queue.end(turn);
    controller.abort(REASON);
    expect((await served).server).toBe("server");
    expect(queue.busy).toBe(1);
  });

  test("gives nobody a server that was withdrawn", async () => {
    const queue = new Queue<string>(1, takesNoneBack);
    queue.offer("lost");
    queue.withdraw("lost");
    const waiting = queue.acquire();
    queue.offer("new");
    expect((await waiting).server).toBe("new");
  });

  test("does not get a server back that was withdrawn in its turn", async () => {
    const { queue, turn } = await busyQueue(1);
    queue.withdraw("server");
    queue.end(turn);
    expect(queue.busy).toBe(0);
    void queue.acquire();
    expect(queue.waiting).toBe(1);
  });
});

describe("turns are given ahead", () => {
  test("while more wait than there are servers, one to each, and they still count as waiting", async () => {
    const shop = new Shop("a", "b");
    await shop.visit("one", "one", "one", "one");
    expect([shop.at("a"), shop.at("b")]).toEqual([["one"], ["one"]]);
    await shop.visit("one", "one", "one", "one");
    expect([shop.at("a"), shop.at("b")]).toEqual([
      ["one", "one"],
      ["one", "one"],
    ]);
    expect([shop.queue.busy, shop.queue.waiting]).toEqual([2, 6]);
  });

  test("and taken back when one that was given later has ended: its server may be stuck", async () => {
    const shop = new Shop("slow", "fast");
    await shop.visit("slow", ..."abcdefg");
    expect(shop.at("slow")).toEqual(["slow", "b"]);
    for (let turn = 0; turn < 7; turn++) {
      await shop.end("fast");
      await settle();
    }
    expect(shop.served).toEqual(["a", "c", "d", "e", "b", "f", "g"]);
    expect(shop.at("slow")).toEqual(["slow"]);
  });

  test("and taken back where another server would have nothing to do", async () => {
    const shop = new Shop("slow", "fast");
    await shop.visit("slow", "a", "b");
    const leaving = new AbortController();
    const left = [1, 2].map(() => shop.queue.acquire({ signal: leaving.signal }).catch(() => {}));
    await settle();
    expect(shop.at("slow")).toEqual(["slow", "b"]);
    leaving.abort(REASON);
    await Promise.all(left);
    await shop.end("fast");
    await settle();
    expect([shop.at("slow"), shop.at("fast")]).toEqual([["slow"], ["b"]]);
  });

  test("and taken back for one who has nobody else there, at the server that will be free first", async () => {
    const shop = new Shop("a", "b");
    await shop.visit(...Array.from({ length: 8 }, () => "heavy"));
    await shop.end("a");
    await shop.visit("light");
    expect(shop.at("b")).toEqual(["heavy", "light"]);
    // The other servers' turns stay; who had to give way comes next.
    await settle();
    expect(shop.at("a")).toEqual(["heavy", "heavy"]);
    await shop.end("b");
    expect(shop.at("b")).toEqual(["light", "heavy"]);
  });

  test("but not for ever: who has given way is served before others who come", async () => {
    const shop = new Shop("server");
    await shop.visit("heavy", "heavy", "heavy", "heavy");
    for (const caller of ["u", "v", "w", "x", "y", "z"]) {
      await shop.visit(caller);
      await shop.end("server");
    }
    expect(shop.served.filter((caller) => caller === "heavy").length).toBeGreaterThanOrEqual(3);
  });
});

describe("closing a queue", () => {
  test("refuses those who wait and those who come", async () => {
    const { queue } = await busyQueue(1);
    const waiting = queue.acquire();
    void queue.close();
    await expect(waiting).rejects.toMatchObject({ kind: "closed" });
    await expect(queue.acquire()).rejects.toMatchObject({ kind: "closed" });
    expect(queue.waiting).toBe(0);
  });

  test.each(["end", "withdraw"] as const)("waits for each lent server until its %s", async (way) => {
    const { queue, turn } = await busyQueue(1);
    let closed = false;
    const closing = queue.close().then(() => {
      closed = true;
    });
    await settle();
    expect(closed).toBe(false);
    if (way === "end") queue.end(turn);
    else queue.withdraw("server");
    await closing;
    await queue.close();
  });

  test("waits also for turns that were given ahead, and takes none of them back", async () => {
    const shop = new Shop("slow", "fast");
    await shop.visit("slow", ..."abcde");
    const waiting = shop.at("slow");
    const closing = shop.queue.close();
    await shop.end("fast");
    await shop.end("fast");
    expect(shop.at("slow")).toEqual(waiting);
    await shop.end("slow");
    await shop.end("slow");
    await closing;
  });
});
