import { getEventListeners } from "node:events";
import { createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { failureOf, IMAGE, listen, openFetcher, startImageServer } from "../support/image-server.ts";

const CANCELLED = new Error("cancelled by the caller");

/** Servers that stall a fetch, each at another step. */
const STALLS = {
  "the response": () => startImageServer(() => {}),
  "the rest of the header": () => startImageServer(({ socket }) => socket.write("HTTP/1.1 200 OK\r\nA: ")),
  "the rest of the image": () => startImageServer((_, response) => response.write(IMAGE)),
  "an image that drips": () =>
    startImageServer((_, response) => {
      response.write(IMAGE);
      const dripping = setInterval(() => response.write("x"), 20);
      response.on("close", () => clearInterval(dripping));
    }),
  "a redirect's target": () =>
    startImageServer((request, response) => {
      if (request.url === "/") response.writeHead(302, { location: "/next" }).end();
    }),
};

describe.each(Object.entries(STALLS))("while waiting for %s", (_, startServer) => {
  test("a fetch can be cancelled, and its connection ends", async () => {
    const server = await startServer();
    const caller = new AbortController();
    const fetching = openFetcher("127.0.0.1").fetch(`http://127.0.0.1:${server.port}/`, {
      signal: caller.signal,
    });
    await expect.poll(() => server.paths.length, { interval: 10 }).toBeGreaterThan(0);
    // Time to receive what the server sent.
    await sleep(50);
    expect(getEventListeners(caller.signal, "abort")).toHaveLength(1);
    caller.abort(CANCELLED);
    await expect(fetching).rejects.toBe(CANCELLED);
    expect(getEventListeners(caller.signal, "abort")).toEqual([]);
    await expect.poll(() => server.sockets.at(-1)?.closed, { interval: 10 }).toBe(true);
  });

  test("a fetch times out, and its connection ends", async () => {
    const server = await startServer();
    const fetcher = openFetcher("127.0.0.1", { timeoutMs: 200 });
    const failure = await failureOf(fetcher.fetch(`http://127.0.0.1:${server.port}/`));
    expect(failure).toMatchObject({
      kind: "tooSlow",
      message: "The image did not arrive within 200 milliseconds.",
    });
    await expect.poll(() => server.sockets.at(-1)?.closed, { interval: 10 }).toBe(true);
  });
});

describe("a look-up that never ends", () => {
  const resolve = vi.fn(() => new Promise<never>(() => {}));
  beforeEach(() => void resolve.mockClear());
  const lookupStarted = () => expect.poll(() => resolve).toHaveBeenCalled();

  test("can be cancelled", async () => {
    const caller = new AbortController();
    const fetching = openFetcher("127.0.0.1", { resolve }).fetch("http://images.test/", {
      signal: caller.signal,
    });
    await lookupStarted();
    caller.abort(CANCELLED);
    await expect(fetching).rejects.toBe(CANCELLED);
  });

  test("times out", async () => {
    const fetcher = openFetcher("127.0.0.1", { resolve, timeoutMs: 100 });
    expect((await failureOf(fetcher.fetch("http://images.test/"))).kind).toBe("tooSlow");
  });

  test("does not delay closing the fetcher", async () => {
    const fetcher = openFetcher("127.0.0.1", { resolve });
    const fetching = failureOf(fetcher.fetch("http://images.test/"));
    await lookupStarted();
    await fetcher.close();
    expect((await fetching).kind).toBe("unreachable");
  });
});

test("no connection is made after a look-up that ends too late", async () => {
  const server = await startImageServer();
  let finishLookup = (_addresses: string[]) => {};
  const resolve = () =>
    new Promise<string[]>((done) => {
      finishLookup = done;
    });
  const fetcher = openFetcher("127.0.0.1", { resolve, timeoutMs: 100 });
  expect((await failureOf(fetcher.fetch(`http://images.test:${server.port}/`))).kind).toBe("tooSlow");
  finishLookup(["127.0.0.1"]);
  // A connection of the first fetch would arrive before this one.
  await openFetcher("127.0.0.1").fetch(`http://127.0.0.1:${server.port}/`);
  expect(server.sockets).toHaveLength(1);
});

test("a TLS handshake that never ends times out", async () => {
  const server = await listen(createServer((socket) => socket.resume()));
  const fetcher = openFetcher("127.0.0.1", { timeoutMs: 200 });
  const failure = await failureOf(fetcher.fetch(`https://127.0.0.1:${server.port}/`));
  expect(failure.kind).toBe("tooSlow");
  await expect.poll(() => server.sockets[0]!.closed).toBe(true);
});

test("a fetch with an aborted signal makes no connection", async () => {
  const server = await startImageServer();
  const signal = AbortSignal.abort(CANCELLED);
  await expect(openFetcher("127.0.0.1").fetch(`http://127.0.0.1:${server.port}/`, { signal })).rejects.toBe(
    CANCELLED,
  );
  expect(server.sockets).toEqual([]);
});

test("a failed fetch makes no further connection", async () => {
  const server = await startImageServer((_, response) => response.write("<!doctype html>"));
  const fetcher = openFetcher("127.0.0.1");
  const url = `http://127.0.0.1:${server.port}/`;
  for (let i = 0; i < 3; i++) {
    expect((await failureOf(fetcher.fetch(url))).kind).toBe("notAnImage");
    // Time for a connection that must not be made.
    await sleep(50);
  }
  expect(server.sockets).toHaveLength(3);
});

test("a fetch that waits for a connection can be cancelled, and its request is never sent", async () => {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const server = await startImageServer(async (_, response) => {
    await held;
    response.end(IMAGE);
  });
  const fetcher = openFetcher("127.0.0.1");
  const url = `http://127.0.0.1:${server.port}`;
  const others = Array.from({ length: 8 }, () => fetcher.fetch(`${url}/held`));
  await expect.poll(() => server.paths.length, { interval: 10 }).toBe(8);
  const caller = new AbortController();
  const fetching = fetcher.fetch(`${url}/cancelled`, { signal: caller.signal });
  caller.abort(CANCELLED);
  await expect(fetching).rejects.toBe(CANCELLED);
  release();
  await Promise.all(others);
  await fetcher.fetch(`${url}/after`);
  expect(server.paths).not.toContain("/cancelled");
});

test("a fetch leaves no listener on the signal of its caller", async () => {
  const server = await startImageServer();
  const fetcher = openFetcher("127.0.0.1");
  const { signal } = new AbortController();
  for (let i = 0; i < 20; i++) await fetcher.fetch(`http://127.0.0.1:${server.port}/`, { signal });
  await failureOf(fetcher.fetch("http://127.0.0.2/", { signal }));
  await failureOf(fetcher.fetch("nowhere", { signal }));
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

test("a closed fetcher closes its connections and rejects fetches", async () => {
  const server = await startImageServer((request, response) => {
    if (request.url === "/") response.end(IMAGE);
  });
  const fetcher = openFetcher("127.0.0.1");
  await fetcher.fetch(`http://127.0.0.1:${server.port}/`);
  const fetching = failureOf(fetcher.fetch(`http://127.0.0.1:${server.port}/held`));
  await expect.poll(() => server.paths.length, { interval: 10 }).toBe(2);
  await fetcher.close();
  expect((await fetching).kind).toBe("unreachable");
  await expect.poll(() => server.sockets.every(({ closed }) => closed), { interval: 10 }).toBe(true);
  expect((await failureOf(fetcher.fetch(`http://127.0.0.1:${server.port}/`))).kind).toBe("unreachable");
});
