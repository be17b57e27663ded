import { randomBytes } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { createJpeg, failureOf, IMAGE, openFetcher, startImageServer } from "../support/image-server.ts";
import { photograph } from "../support/images.ts";

const LOOPBACK = "127.0.0.1";
const PNG = Buffer.concat([Buffer.from("89504e470d0a1a0a", "hex"), randomBytes(500)]);

describe("an image", () => {
  test("is fetched over a connection that is kept for the next image", async () => {
    const bytes = photograph(1);
    const server = await startImageServer((_, response) => response.end(bytes));
    const fetcher = openFetcher(LOOPBACK, { maxBytes: bytes.length });
    const image = await fetcher.fetch(`http://127.0.0.1:${server.port}/a.jpg?size=1#part`);
    expect(bytes.equals(image)).toBe(true);
    expect(image.buffer.byteLength).toBe(bytes.length);
    await setImmediate();
    await fetcher.fetch(`http://127.0.0.1:${server.port}/b.jpg`);
    expect(server.paths).toEqual(["/a.jpg?size=1", "/b.jpg"]);
    expect(server.sockets).toHaveLength(1);
  });

  test("may be a PNG and arrive in one-byte chunks", async () => {
    const server = await startImageServer(async (_, response) => {
      for (const byte of PNG) response.write(Buffer.of(byte));
      response.end();
    });
    const image = await openFetcher(LOOPBACK).fetch(`http://127.0.0.1:${server.port}/`);
    expect(PNG.equals(image)).toBe(true);
  });

  test("without a length may be far larger than the initial buffer", async () => {
    const bytes = createJpeg(3_000_001);
    const server = await startImageServer((_, response) => {
      response.write(bytes.subarray(0, 1_000_000));
      response.end(bytes.subarray(1_000_000));
    });
    const image = await openFetcher(LOOPBACK, { maxBytes: 4_000_000 }).fetch(
      `http://127.0.0.1:${server.port}/`,
    );
    expect(bytes.equals(image)).toBe(true);
    expect(image.buffer.byteLength).toBe(bytes.length);
  });

  test("is requested with plain headers and without cookies", async () => {
    let received: Record<string, unknown> = {};
    const server = await startImageServer((request, response) => {
      received = { method: request.method, ...request.headers };
      response.setHeader("set-cookie", "id=1").end(IMAGE);
    });
    const fetcher = openFetcher(LOOPBACK);
    for (let i = 0; i < 2; i++) await fetcher.fetch(`http://127.0.0.1:${server.port}/`);
    expect(received).toEqual({
      method: "GET",
      host: `127.0.0.1:${server.port}`,
      connection: "keep-alive",
      accept: "image/jpeg, image/png",
      "accept-encoding": "identity",
      "user-agent": "visage",
    });
  });

  test("is not decompressed", async () => {
    const server = await startImageServer((_, response) => {
      response.setHeader("content-encoding", "gzip").end(gzipSync(IMAGE));
    });
    const failure = await failureOf(openFetcher(LOOPBACK).fetch(`http://127.0.0.1:${server.port}/`));
    expect(failure.kind).toBe("notAnImage");
  });
});

describe("a redirect", () => {
  /** Redirects /n to /n-1 and serves the image at /0. */
  const countDown = () =>
    startImageServer((request, response) => {
      const left = Number(request.url?.slice(1));
      if (left === 0) response.end(IMAGE);
      else response.writeHead([301, 302, 303, 307, 308][left]!, { location: `${left - 1}` }).end("moved");
    });

  test("is followed three times", async () => {
    const server = await countDown();
    const image = await openFetcher(LOOPBACK).fetch(`http://127.0.0.1:${server.port}/3`);
    expect(IMAGE.equals(image)).toBe(true);
    expect(server.paths).toEqual(["/3", "/2", "/1", "/0"]);
  });

  test("is not followed a fourth time", async () => {
    const server = await countDown();
    const failure = await failureOf(openFetcher(LOOPBACK).fetch(`http://127.0.0.1:${server.port}/4`));
    expect(failure.kind).toBe("unreachable");
    expect(failure.cause).toMatchObject({ message: expect.stringContaining("more than 3 redirects") });
    expect(server.paths).toEqual(["/4", "/3", "/2", "/1"]);
  });

  test("to itself is not followed forever", async () => {
    const server = await startImageServer((_, response) => response.writeHead(302, { location: "/" }).end());
    const failure = await failureOf(openFetcher(LOOPBACK).fetch(`http://127.0.0.1:${server.port}/`));
    expect(failure.kind).toBe("unreachable");
    expect(server.paths).toHaveLength(4);
  });

  test("may lead to another host, in UTF-8, and no referrer is sent", async () => {
    const headers: unknown[] = [];
    const target = await startImageServer((request, response) => {
      headers.push(request.headers);
      response.end(IMAGE);
    });
    const server = await startImageServer((_, response) => {
      const location = `http://127.0.0.1:${target.port}/é.jpg`;
      response.writeHead(301, { location: Buffer.from(location).toString("latin1") }).end();
    });
    await openFetcher(LOOPBACK).fetch(`http://127.0.0.1:${server.port}/`);
    expect(target.paths).toEqual(["/%C3%A9.jpg"]);
    expect(headers).toEqual([expect.not.objectContaining({ referer: expect.anything() })]);
  });

  test("without a target is a bad status", async () => {
    const server = await startImageServer((_, response) => response.writeHead(302).end(IMAGE));
    const failure = await failureOf(openFetcher(LOOPBACK).fetch(`http://127.0.0.1:${server.port}/`));
    expect(failure).toMatchObject({ kind: "badStatus", status: 302 });
  });

  test.each([
    "ftp://127.0.0.1/a.jpg",
    "file:///etc/passwd",
    "data:image/png;base64,iVBORw0KGgo=",
    "http://me:secret@127.0.0.1/",
    "http://[",
    `/${"a".repeat(3000)}`,
  ])("to %s is not followed", async (location) => {
    const server = await startImageServer((_, response) => response.writeHead(302, { location }).end());
    const failure = await failureOf(openFetcher(LOOPBACK).fetch(`http://127.0.0.1:${server.port}/`));
    expect(failure.kind).toBe("unreachable");
    expect(failure.cause).toMatchObject({ cause: { kind: "badUrl" } });
    expect(server.paths).toEqual(["/"]);
  });

  test("does not wait for an endless body", async () => {
    const server = await startImageServer((request, response) => {
      if (request.url === "/image") return response.end(IMAGE);
      response.writeHead(302, { location: "/image" });
      return response.write("moved ".repeat(10_000));
    });
    await openFetcher(LOOPBACK).fetch(`http://127.0.0.1:${server.port}/`);
    expect(server.paths).toEqual(["/", "/image"]);
  });
});

describe("a response", () => {
  test.each([404, 500, 300, 304, 401])("with status %i is an error with this status", async (status) => {
    const server = await startImageServer((_, response) => response.writeHead(status).end());
    const failure = await failureOf(openFetcher(LOOPBACK).fetch(`http://127.0.0.1:${server.port}/`));
    expect(failure).toMatchObject({ kind: "badStatus", status });
    expect(failure.message).toContain(String(status));
  });

  test.each([
    ["nothing", 200, ""],
    ["no content", 204, ""],
    ["empty partial content", 206, ""],
    ["a web page", 200, "<!doctype html><title>Hello</title>"],
    ["a GIF", 200, "GIF89a..........."],
    ["the first bytes alone", 200, Buffer.from("ffd8ffe0", "hex")],
    ["almost a PNG", 200, Buffer.from("89504e470d0a1a0d00000000", "hex")],
  ])("with %s is not an image", async (_, status, body) => {
    const server = await startImageServer((_, response) => response.writeHead(status).end(body));
    const failure = await failureOf(openFetcher(LOOPBACK).fetch(`http://127.0.0.1:${server.port}/`));
    expect(failure.kind).toBe("notAnImage");
  });

  test("that is not an image is not read further, and its connection ends", async () => {
    const server = await startImageServer((_, response) => {
      for (const character of "<!doctype") response.write(character);
    });
    const failure = await failureOf(openFetcher(LOOPBACK).fetch(`http://127.0.0.1:${server.port}/`));
    expect(failure.kind).toBe("notAnImage");
    await expect.poll(() => server.sockets[0]!.closed).toBe(true);
  });

  test.each([
    ["nothing", ""],
    ["another protocol", "SSH-2.0-OpenSSH_9.6\r\n"],
    ["half a header", "HTTP/1.1 200 OK\r\nContent-Le"],
    ["less than announced", `HTTP/1.1 200 OK\r\nContent-Length: 2000\r\n\r\n${IMAGE.toString("latin1")}`],
    [
      "a chunk cut short",
      `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7d0\r\n${IMAGE.toString("latin1")}`,
    ],
    ["two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\nContent-Length: 8\r\n\r\n"],
    ["headers without end", `HTTP/1.1 200 OK\r\nA: ${"a".repeat(20_000)}\r\n\r\n`],
    ["a protocol upgrade", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: upgrade\r\n\r\n"],
  ])("of %s makes the URL unreachable", async (_, bytes) => {
    const server = await startImageServer(({ socket }) => socket.end(bytes, "latin1"));
    const failure = await failureOf(openFetcher(LOOPBACK).fetch(`http://127.0.0.1:${server.port}/`));
    expect(failure.kind).toBe("unreachable");
    expect(failure.cause).toBeInstanceOf(Error);
  });

  test("ends at its length, and bytes after it do not become the next image", async () => {
    const second = `HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n${createJpeg(1000).fill("false", 4).toString("latin1")}`;
    const server = await startImageServer(({ socket }) => {
      socket.write(
        `HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n${IMAGE.toString("latin1")}${second}`,
        "latin1",
      );
    });
    const fetcher = openFetcher(LOOPBACK);
    for (let i = 0; i < 2; i++) {
      const image = await fetcher.fetch(`http://127.0.0.1:${server.port}/`);
      expect(IMAGE.equals(image)).toBe(true);
    }
    expect(server.sockets).toHaveLength(2);
  });

  test("without a length ends with its connection", async () => {
    const server = await startImageServer(({ socket }) => {
      socket.end(`HTTP/1.1 200 OK\r\n\r\n${IMAGE.toString("latin1")}`, "latin1");
    });
    const image = await openFetcher(LOOPBACK).fetch(`http://127.0.0.1:${server.port}/`);
    expect(IMAGE.equals(image)).toBe(true);
  });
});

describe("the size of an image", () => {
  test("may be exactly the limit, which a caller may lower but not raise", async () => {
    const server = await startImageServer();
    const url = `http://127.0.0.1:${server.port}/`;
    const fetcher = openFetcher(LOOPBACK, { maxBytes: IMAGE.length });
    expect(await fetcher.fetch(url)).toHaveLength(IMAGE.length);
    const failure = await failureOf(fetcher.fetch(url, { maxBytes: IMAGE.length - 1 }));
    expect(failure).toMatchObject({ kind: "tooLarge", message: expect.stringContaining("999 bytes") });
    const strict = openFetcher(LOOPBACK, { maxBytes: 10 });
    expect((await failureOf(strict.fetch(url, { maxBytes: IMAGE.length }))).kind).toBe("tooLarge");
  });

  test("is rejected by the announced length alone", async () => {
    const server = await startImageServer((_, response) => {
      response.writeHead(200, { "content-length": 100_001 }).flushHeaders();
    });
    const failure = await failureOf(openFetcher(LOOPBACK).fetch(`http://127.0.0.1:${server.port}/`));
    expect(failure.kind).toBe("tooLarge");
    await expect.poll(() => server.sockets[0]!.closed).toBe(true);
  });

  test("is counted as it arrives, and an endless response is cut off", async () => {
    let sent = 0;
    const server = await startImageServer((_, response) => {
      response.write(IMAGE);
      const send = () => {
        for (sent += 1000; response.write(IMAGE); ) sent += 1000;
      };
      response.on("drain", send);
      send();
    });
    const failure = await failureOf(openFetcher(LOOPBACK).fetch(`http://127.0.0.1:${server.port}/`));
    expect(failure.kind).toBe("tooLarge");
    await expect.poll(() => server.sockets[0]!.closed).toBe(true);
    expect(sent).toBeLessThan(50_000_000);
  });
});
