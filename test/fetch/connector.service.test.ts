import { createServer as createTlsServer } from "node:https";
import { setImmediate } from "node:timers/promises";
import tls from "node:tls";
import { generate } from "selfsigned";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { failureOf, IMAGE, listen, openFetcher, startImageServer } from "../support/image-server.ts";

// All addresses here are loopback, also the rejected ones, so that a faulty connector reaches no other machine.

const NOT_ALLOWED = "the host has an address that is not allowed";

/** Creates a resolver that knows these names. */
function createResolver(names: Readonly<Record<string, readonly string[]>>) {
  return vi.fn(async (name: string) => {
    const addresses = names[name];
    if (!addresses) throw Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), { code: "ENOTFOUND" });
    return addresses;
  });
}

/** Finds a port where nothing listens. */
async function closedPort(): Promise<number> {
  const { createServer } = await import("node:net");
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}

describe("a host name", () => {
  test("is resolved by the system by default", async () => {
    const server = await startImageServer(undefined, { host: "localhost" });
    expect(await openFetcher("localhost").fetch(`http://localhost:${server.port}/`)).toHaveLength(
      IMAGE.length,
    );
    expect(await openFetcher("127.0.0.0/8,::1").fetch(`http://localhost:${server.port}/`)).toBeDefined();
  });

  test("may resolve to any address if it is listed", async () => {
    const server = await startImageServer();
    const fetcher = openFetcher("images.test", { resolve: createResolver({ "images.test": ["127.0.0.1"] }) });
    expect(await fetcher.fetch(`http://IMAGES.test:${server.port}/`)).toHaveLength(IMAGE.length);
  });

  test("is rejected on any port if neither the name nor the address is listed", async () => {
    const server = await startImageServer();
    const resolve = createResolver({ "images.test": ["127.0.0.1"], "mapped.test": ["::ffff:127.0.0.1"] });
    const fetcher = openFetcher("127.0.0.2", { resolve });
    for (const host of [
      `images.test:${server.port}`,
      `mapped.test:${server.port}`,
      "images.test",
      "127.0.0.1",
    ]) {
      const failure = await failureOf(fetcher.fetch(`http://${host}/`));
      expect(failure.kind).toBe("unreachable");
      expect(failure.cause).toMatchObject({ message: expect.stringContaining("is not allowed") });
    }
    expect(server.sockets).toEqual([]);
  });

  test("may resolve to a listed address in IPv4-mapped form", async () => {
    const server = await startImageServer();
    const fetcher = openFetcher("127.0.0.0/8", {
      resolve: createResolver({ "images.test": ["::ffff:127.0.0.1"] }),
    });
    expect(await fetcher.fetch(`http://images.test:${server.port}/`)).toHaveLength(IMAGE.length);
    expect(await fetcher.fetch(`http://[::ffff:127.0.0.1]:${server.port}/`)).toHaveLength(IMAGE.length);
  });

  test("is rejected if any of its addresses is not allowed", async () => {
    const server = await startImageServer(undefined, { host: "127.0.0.2" });
    const resolve = createResolver({
      "a.test": ["127.0.0.2", "127.0.0.1"],
      "b.test": ["127.0.0.1", "127.0.0.2"],
    });
    const fetcher = openFetcher("127.0.0.2", { resolve });
    for (const host of ["a.test", "b.test"]) {
      const failure = await failureOf(fetcher.fetch(`http://${host}:${server.port}/`));
      expect(failure.cause).toMatchObject({
        message: NOT_ALLOWED,
      });
    }
    expect(server.sockets).toEqual([]);
  });

  test("is resolved once per connection, and only the checked addresses are used", async () => {
    const good = await startImageServer(undefined, { host: "127.0.0.2" });
    const bad = await startImageServer(undefined, { host: "127.0.0.1", port: good.port });
    const resolve = vi.fn(async () => ["127.0.0.1"]).mockResolvedValueOnce(["127.0.0.2"]);
    const fetcher = openFetcher("127.0.0.2", { resolve });
    const url = `http://rebinding.test:${good.port}/`;
    await fetcher.fetch(url);
    expect(resolve).toHaveBeenCalledTimes(1);
    await setImmediate();
    await fetcher.fetch(url);
    expect(resolve).toHaveBeenCalledTimes(1);
    expect(good.paths).toHaveLength(2);

    // A new connection resolves and checks the name again.
    good.sockets[0]!.destroy();
    await expect
      .poll(() => failureOf(fetcher.fetch(url)))
      .toMatchObject({
        cause: { message: NOT_ALLOWED },
      });
    expect(bad.sockets).toEqual([]);
  });

  test("is tried address by address until one connects", async () => {
    const server = await startImageServer(undefined, { host: "127.0.0.3" });
    const resolve = createResolver({ "images.test": ["127.0.0.1", "127.0.0.2", "127.0.0.3"] });
    const fetcher = openFetcher("127.0.0.0/8", { resolve });
    expect(await fetcher.fetch(`http://images.test:${server.port}/`)).toHaveLength(IMAGE.length);
  });
});

describe("a redirect", () => {
  test.each([
    "http://127.0.0.1:{port}/",
    "http://[::1]:{port}/",
    "http://[::ffff:127.0.0.1]:{port}/",
    "http://0x7f.1:{port}/",
    "http://2130706433:{port}/",
    "http://localhost:{port}/",
    "http://images.test.:{port}/",
    "//127.1:{port}/",
    "http://127.0.0.1/",
    "http://localhost/",
    "https://localhost/",
  ])("from a listed name to %s is checked like any other target", async (target) => {
    const server = await startImageServer((_, response) => {
      response.writeHead(302, { location: target.replace("{port}", String(server.port)) }).end();
    });
    const loopback = ["127.0.0.1"];
    const resolve = createResolver({
      "images.test": loopback,
      "images.test.": loopback,
      localhost: loopback,
    });
    const fetcher = openFetcher("images.test", { resolve });
    const failure = await failureOf(fetcher.fetch(`http://images.test:${server.port}/`));
    expect(failure.kind).toBe("unreachable");
    expect(server.paths).toEqual(["/"]);
    expect(server.sockets).toHaveLength(1);
  });
});

describe("TLS", () => {
  const startTlsServer = async (name: string) => {
    const pems = await generate([{ name: "commonName", value: name }], {
      extensions: [{ name: "subjectAltName", altNames: [{ type: 2, value: name }] }],
    });
    const server = createTlsServer({ cert: pems.cert, key: pems.private }, (_, response) =>
      response.end(IMAGE),
    );
    return { ...(await listen(server)), ca: pems.cert };
  };
  /** Makes TLS clients trust this certificate authority. */
  const trust = (ca: string) => {
    const { connect } = tls;
    const spy = vi.spyOn(tls, "connect");
    spy.mockImplementation(((options: tls.ConnectionOptions) =>
      connect({ ...options, ca })) as typeof connect);
    onTestFinished(() => spy.mockRestore());
  };
  const fetchFrom = (port: number, name = "images.test") =>
    openFetcher("127.0.0.1", { resolve: createResolver({ [name]: ["127.0.0.1"] }) }).fetch(
      `https://${name}:${port}/`,
    );

  test("with an untrusted certificate is rejected", async () => {
    const server = await startTlsServer("images.test");
    const failure = await failureOf(fetchFrom(server.port));
    expect(failure.kind).toBe("unreachable");
    expect(failure.cause).toMatchObject({ code: "DEPTH_ZERO_SELF_SIGNED_CERT" });
    expect(server.paths).toEqual([]);
  });

  test("with a trusted certificate is accepted for the name in the certificate only", async () => {
    const server = await startTlsServer("images.test");
    trust(server.ca);
    expect(await fetchFrom(server.port)).toHaveLength(IMAGE.length);
    const failure = await failureOf(fetchFrom(server.port, "other.test"));
    expect(failure.kind).toBe("unreachable");
    expect(failure.cause).toMatchObject({ code: "ERR_TLS_CERT_ALTNAME_INVALID" });
    expect(server.paths).toEqual(["/"]);
  });

  test("to a port without TLS is unreachable", async () => {
    const server = await startImageServer();
    expect((await failureOf(fetchFrom(server.port))).kind).toBe("unreachable");
  });
});

test("every connection failure has the same message for the caller, and its cause is kept for the log", async () => {
  const port = await closedPort();
  const silent = await startImageServer(({ socket }) => socket.destroy());
  const resolve = createResolver({
    "private.test": ["127.0.0.1"],
    "listed.test": ["127.0.0.2"],
    "empty.test": [],
  });
  const fetcher = openFetcher("127.0.0.2,listed.test", { resolve });
  const failures = await Promise.all(
    [
      "http://unknown.test/",
      "http://private.test/",
      "http://127.0.0.1/",
      "http://0x7f.1/",
      "http://[::1]/",
      "http://empty.test/",
      `http://listed.test:${port}/`,
      `http://private.test:${silent.port}/`,
    ].map((url) => failureOf(fetcher.fetch(url))),
  );
  const [first, ...others] = failures.map(({ kind, message, status }) => ({ kind, message, status }));
  expect(first).toEqual({ kind: "unreachable", message: expect.not.stringMatching(/[,:;\d]|test|\n/) });
  for (const other of others) expect(other).toEqual(first);
  expect(failures.map(({ cause }) => (cause as Error).message)).toEqual([
    "getaddrinfo ENOTFOUND unknown.test",
    NOT_ALLOWED,
    NOT_ALLOWED,
    NOT_ALLOWED,
    NOT_ALLOWED,
    "the host has no address",
    `connect ECONNREFUSED 127.0.0.2:${port}`,
    NOT_ALLOWED,
  ]);
});

test("proxies from the environment are not used", async () => {
  const proxy = await startImageServer();
  const server = await startImageServer();
  for (const name of ["http_proxy", "https_proxy", "all_proxy"])
    for (const variable of [name, name.toUpperCase()]) vi.stubEnv(variable, `http://127.0.0.1:${proxy.port}`);
  vi.stubEnv("NODE_USE_ENV_PROXY", "1");
  onTestFinished(() => void vi.unstubAllEnvs());
  await openFetcher("127.0.0.1").fetch(`http://127.0.0.1:${server.port}/`);
  expect(server.paths).toEqual(["/"]);
  expect(proxy.sockets).toEqual([]);
});

describe("parallel fetches", () => {
  test("share eight connections to a host", async () => {
    const server = await startImageServer((_, response) => setTimeout(() => response.end(IMAGE), 50));
    const fetcher = openFetcher("127.0.0.1");
    const urls = Array.from({ length: 20 }, (_, i) => `http://127.0.0.1:${server.port}/${i}`);
    const images = await Promise.all(urls.map((url) => fetcher.fetch(url)));
    expect(images.every((image) => IMAGE.equals(image))).toBe(true);
    expect(server.paths).toHaveLength(20);
    expect(server.sockets).toHaveLength(8);
  });

  test("all fail when nothing listens", async () => {
    const fetcher = openFetcher("127.0.0.1");
    const url = `http://127.0.0.1:${await closedPort()}/`;
    const failures = await Promise.all(Array.from({ length: 20 }, () => failureOf(fetcher.fetch(url))));
    expect(new Set(failures.map(({ kind }) => kind))).toEqual(new Set(["unreachable"]));
  });

  test("do not wait for each other", async () => {
    const slow = await startImageServer(() => {});
    const server = await startImageServer();
    const fetcher = openFetcher("127.0.0.1", { timeoutMs: 500 });
    const waiting = failureOf(fetcher.fetch(`http://127.0.0.1:${slow.port}/`));
    expect(await fetcher.fetch(`http://127.0.0.1:${server.port}/`)).toHaveLength(IMAGE.length);
    expect((await waiting).kind).toBe("tooSlow");
  });
});
