import { setMaxListeners } from "node:events";
import { describe, expect, test } from "vitest";
import { MAX_FETCHES, MAX_FETCHES_PER_CALLER } from "../../src/fetch/fetch-slots.ts";
import type { ImageFetcher } from "../../src/fetch/image-fetcher.ts";
import { failureOf, IMAGE, openFetcher, startImageServer } from "../support/image-server.ts";

const LOOPBACK = "127.0.0.1";
const CANCELLED = new Error("cancelled by the caller");

/** Starts fetches that wait for a response until they are aborted. */
function hold(fetcher: ImageFetcher, url: string, count: number, callerAt: (index: number) => string) {
  const stop = new AbortController();
  setMaxListeners(0, stop.signal);
  const fetches = Array.from({ length: count }, (_, i) =>
    fetcher.fetch(url, { caller: callerAt(i), signal: stop.signal }).catch((fault: unknown) => fault),
  );
  return {
    abort: async () => {
      stop.abort(CANCELLED);
      expect(new Set(await Promise.all(fetches))).toEqual(new Set([CANCELLED]));
    },
  };
}

/** Serves IMAGE at every path except /silent. */
const startServer = async () => {
  const server = await startImageServer((request, response) => {
    if (request.url !== "/silent") response.end(IMAGE);
  });
  return `http://${LOOPBACK}:${server.port}`;
};

test("one user has at most eight fetches in flight, and others are not affected", async () => {
  const url = await startServer();
  const fetcher = openFetcher(LOOPBACK);
  const held = hold(fetcher, `${url}/silent`, MAX_FETCHES_PER_CALLER, () => "anna");
  const failure = await failureOf(fetcher.fetch(url, { caller: "anna" }));
  expect(failure.kind).toBe("tooManyPerCaller");
  expect(failure.message).not.toMatch(/[,:;]/);
  const other = await startServer();
  expect(await fetcher.fetch(other, { caller: "bela" })).toHaveLength(IMAGE.length);
  await held.abort();
  expect(await fetcher.fetch(other, { caller: "anna" })).toHaveLength(IMAGE.length);
});

test("all users together have at most 64 fetches in flight", async () => {
  const url = await startServer();
  const fetcher = openFetcher(LOOPBACK);
  const held = hold(fetcher, `${url}/silent`, MAX_FETCHES, (i) => `user ${i}`);
  const failure = await failureOf(fetcher.fetch(url, { caller: "anna" }));
  expect(failure.kind).toBe("tooMany");
  expect((await failureOf(fetcher.fetch(url))).kind).toBe("tooMany");
  await held.abort();
  expect(await fetcher.fetch(`${await startServer()}/`, { caller: "anna" })).toHaveLength(IMAGE.length);
});

test("a malformed URL takes no slot", async () => {
  const fetcher = openFetcher(LOOPBACK);
  for (let i = 0; i <= MAX_FETCHES; i++)
    expect((await failureOf(fetcher.fetch("nowhere", { caller: "anna" }))).kind).toBe("badUrl");
});

describe("a slot is free again after", () => {
  /** Runs more fetches in sequence than there are slots, so that each must have freed its slot. */
  const repeat = async (fetchOnce: () => Promise<unknown>) => {
    for (let i = 0; i <= MAX_FETCHES_PER_CALLER; i++) await fetchOnce();
  };
  const caller = "anna";

  test("success", async () => {
    const url = await startServer();
    const fetcher = openFetcher(LOOPBACK);
    await repeat(() => fetcher.fetch(url, { caller }));
  });

  test.each([
    ["an error status", "badStatus", () => startImageServer((_, response) => response.writeHead(404).end())],
    ["a web page", "notAnImage", () => startImageServer((_, response) => response.end("<!doctype html>"))],
    [
      "an image beyond the limit",
      "tooLarge",
      () =>
        startImageServer((_, response) => response.writeHead(200, { "content-length": 1e9 }).flushHeaders()),
    ],
    ["a broken connection", "unreachable", () => startImageServer(({ socket }) => socket.destroy())],
    ["a timeout", "tooSlow", () => startImageServer(() => {})],
  ] as const)("%s", async (_, kind, start) => {
    const server = await start();
    const fetcher = openFetcher(LOOPBACK, { timeoutMs: kind === "tooSlow" ? 30 : 5000 });
    await repeat(async () => {
      const failure = await failureOf(fetcher.fetch(`http://${LOOPBACK}:${server.port}/`, { caller }));
      expect(failure.kind).toBe(kind);
    });
  });

  test("a signal that is already aborted", async () => {
    const fetcher = openFetcher(LOOPBACK);
    const signal = AbortSignal.abort(CANCELLED);
    await repeat(() =>
      expect(fetcher.fetch("http://127.0.0.1/", { caller, signal })).rejects.toBe(CANCELLED),
    );
  });

  // These delays reach from before the look-up to the body.
  test.each([0, 1, 2, 4, 8, 16, 32])("an abort %i ms after the start", async (delayMs) => {
    const server = await startImageServer((request, response) => {
      if (request.url === "/") response.writeHead(302, { location: "/image" }).end();
      else response.write(IMAGE);
    });
    const resolve = () => new Promise<string[]>((done) => setTimeout(done, 3, [LOOPBACK]));
    const fetcher = openFetcher(LOOPBACK, { resolve });
    await repeat(async () => {
      const stop = new AbortController();
      const url = `http://images.test:${server.port}/`;
      const fetching = fetcher.fetch(url, { caller, signal: stop.signal });
      if (delayMs === 0) stop.abort(CANCELLED);
      else setTimeout(() => stop.abort(CANCELLED), delayMs);
      await expect(fetching).rejects.toBe(CANCELLED);
    });
  });
});
