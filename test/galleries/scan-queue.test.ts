import { expect, test } from "vitest";
import { ScanQueue } from "../../src/galleries/scan-queue.ts";

/** A queue that writes down the names of the scans that it has run. */
function recordScans(maxWaitMs = 60_000) {
  const queue = new ScanQueue(maxWaitMs);
  const names: string[] = [];
  const search = (user: string, ...scans: string[]) =>
    queue.runAll(
      user,
      scans.map((name) => () => {
        names.push(name);
        return name.toUpperCase();
      }),
    );
  return { queue, names, search };
}

function block(ms: number): void {
  const endMs = performance.now() + ms;
  while (performance.now() < endMs);
}

test("users are served in turn, however many searches each has", async () => {
  const { names, search } = recordScans();
  await Promise.all([search("ann", "a1"), search("ann", "a2"), search("ann", "a3"), search("bob", "b1")]);
  expect(names).toEqual(["a1", "a2", "b1", "a3"]);
});

test("a search with several scans is interrupted by other users only", async () => {
  const { names, search } = recordScans();
  const [first] = await Promise.all([
    search("ann", "a1", "a2", "a3"),
    search("ann", "later"),
    search("bob", "b1"),
    search("bob", "b2"),
  ]);
  expect(first).toEqual(["A1", "A2", "A3"]);
  expect(names.indexOf("later")).toBeGreaterThan(names.indexOf("a3"));
  expect(names.indexOf("b1")).toBeLessThan(names.indexOf("a3"));
});

test("the event loop goes on between two scans", async () => {
  const { search } = recordScans();
  let isReached = false;
  setImmediate(() => (isReached = true));
  await search("ann", "a1", "a2", "a3");
  expect(isReached).toBe(true);
});

test("a search that has waited too long is rejected, one that has started is not", async () => {
  // Long enough that a pause of the machine does not reject the last search.
  const { queue, search } = recordScans(200);
  const long = queue.runAll("ann", [() => block(250), () => block(250), () => "done"]);
  const waiting = search("ann", "late");
  await expect(waiting).rejects.toMatchObject({ kind: "overloaded" });
  expect(await long).toEqual([undefined, undefined, "done"]);
  expect(await search("ann", "next")).toEqual(["NEXT"]);
});

test("an aborted search does not scan, and an error reaches its search only", async () => {
  const { queue, names, search } = recordScans();
  const controller = new AbortController();
  const busy = search("ann", "a1");
  const failing = queue.runAll("ann", [
    () => {
      throw new Error("broken");
    },
  ]);
  const aborted = queue.runAll("ann", [() => names.push("aborted")], controller.signal);
  const last = search("ann", "a2");
  controller.abort();
  await expect(failing).rejects.toThrow("broken");
  await expect(aborted).rejects.toMatchObject({ name: "AbortError" });
  expect(await Promise.all([busy, last])).toEqual([["A1"], ["A2"]]);
  expect(names).toEqual(["a1", "a2"]);
});
