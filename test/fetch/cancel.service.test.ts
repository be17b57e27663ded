import { getEventListeners } from "node:events";
import { createServer } from "node:net";
import { describe, expect, test } from "vitest";
import { failureOf, IMAGE, listen, openFetcher, startImageServer } from "../support/image-server.ts";

const REASON = new Error("the caller has gone");

/** Servers that keep a fetch waiting, each at another step. */
const WAITS = {
  "the answer": () => startImageServer(() => {}),
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

describe.each(Object.entries(WAITS))("while waiting for %s", (_, startServer) => {
  test("a caller who leaves is let go at once, and the connection ends", async () => {
    const server = await startServer();
    const caller = new AbortController();
    const fetching = openFetcher("127.0.0.1").fetch(`http://127.0.0.1:${server.port}/`, {
      signal: caller.signal,
    });
    await expect.poll(() => server.paths.length, { interval: 10 }).toBeGreaterThan(0);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(getEventListeners(caller.signal, "abort")).toHaveLength(1);
    caller.abort(REASON);
    await expect(fetching).rejects.toBe(REASON);
    expect(getEventListeners(caller.signal, "abort")).toEqual([]);
    await expect.poll(() => server.sockets.at(-1)?.closed, { interval: 10 }).toBe(true);
  });

  test("the time runs out, and the connection ends", async () => {
    const server = await startServer();
    const fetcher = openFetcher("127.0.0.1", { timeoutMs: 200 });
    const started = performance.now();
    const failure = await failureOf(fetcher.fetch(`http://127.0.0.1:${server.port}/`));
    expect(performance.now() - started).toBeLessThan(1000);
    expect(failure).toMatchObject({
      kind: "tooSlow",
      message: "The image did not arrive within 200 milliseconds.",
    });
    await expect.poll(() => server.sockets.at(-1)?.closed, { interval: 10 }).toBe(true);
  });
});

describe("a look-up that never ends", () => {
  const resolve = () => new Promise<never>(() => {});

  test("does not hold a caller who leaves", async () => {
    const caller = new AbortController();
    const fetching = openFetcher("127.0.0.1", { resolve }).fetch("http://images.test/", {
      signal: caller.signal,
    });
    setTimeout(() => caller.abort(REASON), 20);
    await expect(fetching).rejects.toBe(REASON);
  });

  test("takes no longer than any other fetch", async () => {
    const fetcher = openFetcher("127.0.0.1", { resolve, timeoutMs: 100 });
    expect((await failureOf(fetcher.fetch("http://images.test/"))).kind).toBe("tooSlow");
  });

  test("does not hold the end", async () => {
    const fetcher = openFetcher("127.0.0.1", { resolve });
    const fetching = failureOf(fetcher.fetch("http://images.test/"));
    await new Promise((done) => setTimeout(done, 20));
    await fetcher.close();
    expect((await fetching).kind).toBe("unreachable");
  });
});

test("a look-up that ends too late is not dialled", async () => {
  const server = await startImageServer();
  const resolve = () => new Promise<string[]>((done) => setTimeout(done, 150, ["127.0.0.1"]));
  const fetcher = openFetcher("127.0.0.1", { resolve, timeoutMs: 100 });
  expect((await failureOf(fetcher.fetch(`http://images.test:${server.port}/`))).kind).toBe("tooSlow");
  await new Promise((done) => setTimeout(done, 150));
  expect(server.sockets).toEqual([]);
});

test("a TLS handshake that never ends is given up", async () => {
  const server = await listen(createServer((socket) => socket.resume()));
  const fetcher = openFetcher("127.0.0.1", { timeoutMs: 200 });
  const failure = await failureOf(fetcher.fetch(`https://127.0.0.1:${server.port}/`));
  expect(failure.kind).toBe("tooSlow");
  await expect.poll(() => server.sockets[0]!.closed, { timeout: 5000 }).toBe(true);
});

test("a caller who left before is not served", async () => {
  const server = await startImageServer();
  const signal = AbortSignal.abort(REASON);
  await expect(openFetcher("127.0.0.1").fetch(`http://127.0.0.1:${server.port}/`, { signal })).rejects.toBe(
    REASON,
  );
  expect(server.sockets).toEqual([]);
});

test("a fetch that is stopped makes no further connection", async () => {
  const server = await startImageServer((_, response) => response.write("<!doctype html>"));
  const fetcher = openFetcher("127.0.0.1");
  const url = `http://127.0.0.1:${server.port}/`;
  for (let time = 0; time < 3; time++) {
    expect((await failureOf(fetcher.fetch(url))).kind).toBe("notAnImage");
    await new Promise((done) => setTimeout(done, 50));
  }
  expect(server.sockets).toHaveLength(3);
});

test("a caller who waits for a connection is let go, and its request is never sent", async () => {
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
  const fetching = fetcher.fetch(`${url}/left`, { signal: caller.signal });
  setTimeout(() => caller.abort(REASON), 20);
  await expect(fetching).rejects.toBe(REASON);
  release();
  await Promise.all(others);
  await fetcher.fetch(`${url}/after`);
  expect(server.paths).not.toContain("/left");
});

test("a signal that outlives many fetches keeps nothing of them", async () => {
  const server = await startImageServer();
  const fetcher = openFetcher("127.0.0.1");
  const { signal } = new AbortController();
  for (let time = 0; time < 20; time++) await fetcher.fetch(`http://127.0.0.1:${server.port}/`, { signal });
  await failureOf(fetcher.fetch("http://127.0.0.2/", { signal }));
  await failureOf(fetcher.fetch("nowhere", { signal }));
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

test("a closed fetcher ends its connections and fetches no more", async () => {
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
