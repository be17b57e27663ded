import { setMaxListeners } from "node:events";
import { readdirSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { createNameResolver } from "../../src/fetch/name-resolver.ts";
import { type Records, SILENT, startDnsServer } from "../support/dns-server.ts";
import { failureOf, IMAGE, openFetcher, startImageServer } from "../support/image-server.ts";

const CANCELLED = new Error("cancelled by the caller");

/** Creates a resolver for a DNS zone and a hosts file with this text. */
async function createResolver(zone: Readonly<Record<string, Records>>, hosts = "") {
  const server = await startDnsServer(zone);
  const hostsPath = await writeHostsFile(hosts);
  const resolve = createNameResolver({ servers: [server.address], hostsPath });
  const resolveWith = (name: string, signal = new AbortController().signal) => resolve(name, signal);
  return { resolve: resolveWith, queries: server.queries, server: server.address, hostsPath };
}

async function writeHostsFile(text: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "visage-hosts-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, "hosts");
  writeFileSync(path, text);
  return path;
}

describe("DNS", () => {
  test("returns the addresses of both families, IPv4 first", async () => {
    const { resolve, queries } = await createResolver({
      "both.test": { aaaa: ["2001:db8::1"], a: ["192.0.2.1", "192.0.2.2"] },
    });
    expect(await resolve("both.test")).toEqual(["192.0.2.1", "192.0.2.2", "2001:db8::1"]);
    expect(queries.toSorted()).toEqual(["a both.test", "aaaa both.test"]);
  });

  test.each([
    ["a", "192.0.2.1"],
    ["aaaa", "2001:db8::1"],
  ] as const)("finds a name that has only %s records", async (family, address) => {
    const { resolve } = await createResolver({ "one.test": { [family]: [address] } });
    expect(await resolve("one.test")).toEqual([address]);
  });

  test("follows a chain of aliases", async () => {
    const { resolve } = await createResolver({
      "www.test": { cname: "cdn.test" },
      "cdn.test": { cname: "edge.test" },
      "edge.test": { a: ["192.0.2.7"] },
    });
    expect(await resolve("www.test")).toEqual(["192.0.2.7"]);
  });

  test("accepts names in any case and with a final dot", async () => {
    const { resolve } = await createResolver({ "one.test": { a: ["192.0.2.1"] } });
    expect(await resolve("One.TEST")).toEqual(["192.0.2.1"]);
    expect(await resolve("one.test.")).toEqual(["192.0.2.1"]);
  });

  test("does not wait for a family whose queries are dropped", async () => {
    const { resolve } = await createResolver({
      "one.test": { a: ["192.0.2.1"], silent: ["aaaa"] },
      "six.test": { aaaa: ["2001:db8::1"], silent: ["a"] },
      "silent.test": SILENT,
    });
    // Begins first, so that it also ends first if the others wait.
    const dropped = resolve("silent.test").catch(() => "given up");
    const addresses = Promise.all([resolve("one.test"), resolve("six.test")]);
    expect(await Promise.race([addresses, dropped])).toEqual([["192.0.2.1"], ["2001:db8::1"]]);
  });

  test.each([
    ["does not exist", "unknown.test", /ENOTFOUND/],
    ["has no addresses", "empty.test", /ENODATA/],
    ["cannot be resolved by its server", "broken.test", /ESERVFAIL/],
    ["is malformed", "a..b", /EBADNAME/],
  ])("a name that %s is an error", async (_, name, message) => {
    const { resolve } = await createResolver({ "empty.test": {}, "broken.test": { rcode: 2 } });
    await expect(resolve(name)).rejects.toThrow(message);
  });

  test("a look-up whose server does not respond fails after two seconds", async () => {
    const { resolve, queries } = await createResolver({ "silent.test": SILENT });
    const started = performance.now();
    await expect(resolve("silent.test")).rejects.toThrow("no DNS answer within 2000 ms");
    expect(performance.now() - started).toBeGreaterThan(1900);
    // Queries are repeated, because packets can be lost.
    expect(queries.length).toBeGreaterThan(2);
  });

  test("an abort ends a look-up and closes its sockets", async () => {
    const { resolve, queries } = await createResolver({ "silent.test": SILENT });
    const countFiles = () => readdirSync("/proc/self/fd").length;
    const before = countFiles();
    const stop = new AbortController();
    setMaxListeners(0, stop.signal);
    const lookups = Array.from({ length: 20 }, () => resolve("silent.test", stop.signal));
    await expect.poll(() => queries.length).toBeGreaterThanOrEqual(2 * lookups.length);
    const open = countFiles();
    stop.abort(CANCELLED);
    for (const lookup of await Promise.allSettled(lookups))
      expect(lookup).toMatchObject({ reason: CANCELLED });
    expect(open).toBeGreaterThan(before);
    await expect.poll(countFiles).toBeLessThanOrEqual(before);
    await expect(resolve("silent.test", stop.signal)).rejects.toBe(CANCELLED);
  });
});

describe("the hosts file", () => {
  const HOSTS = `
# a comment
127.0.0.5\tImages.Test alias.test. # and another
::1 images.test
not-an-address broken.test
192.0.2.9 other.test
`;

  test("takes precedence over DNS: addresses of both families, aliases, any case", async () => {
    const { resolve, queries } = await createResolver({ "images.test": { a: ["192.0.2.1"] } }, HOSTS);
    expect(await resolve("IMAGES.test")).toEqual(["127.0.0.5", "::1"]);
    expect(await resolve("alias.test")).toEqual(["127.0.0.5"]);
    expect(await resolve("other.test.")).toEqual(["192.0.2.9"]);
    expect(queries).toEqual([]);
    await expect(resolve("broken.test")).rejects.toThrow("ENOTFOUND");
  });

  test("is read again when it changes, and may be missing", async () => {
    const { resolve, hostsPath } = await createResolver({}, HOSTS);
    expect(await resolve("other.test")).toEqual(["192.0.2.9"]);
    writeFileSync(hostsPath, "192.0.2.10 other.test\n");
    expect(await resolve("other.test")).toEqual(["192.0.2.10"]);
    await rm(hostsPath);
    await expect(resolve("other.test")).rejects.toThrow("ENOTFOUND");
  });

  test("does not need localhost, which is never looked up in DNS", async () => {
    const { resolve, queries } = await createResolver({ localhost: { a: ["192.0.2.1"] } });
    expect(await resolve("localhost")).toEqual(["127.0.0.1", "::1"]);
    expect(await resolve("app.LOCALHOST.")).toEqual(["127.0.0.1", "::1"]);
    expect(queries).toEqual([]);
  });
});

describe("a fetch", () => {
  test("of a name in DNS connects to its address", async () => {
    const server = await startImageServer();
    const dns = await startDnsServer({ "images.test": { a: ["127.0.0.1"] } });
    const fetcher = openFetcher("127.0.0.1", { names: { servers: [dns.address] } });
    expect(await fetcher.fetch(`http://images.test:${server.port}/`)).toHaveLength(IMAGE.length);
  });

  test("of a name that resolves to a private address is rejected, also behind aliases", async () => {
    const dns = await startDnsServer({
      "private.test": { a: ["10.0.0.1"] },
      "mixed.test": { a: ["192.0.2.1"], aaaa: ["::ffff:127.0.0.1"] },
      "alias.test": { cname: "private.test" },
    });
    const fetcher = openFetcher("", { names: { servers: [dns.address] } });
    for (const name of ["private.test", "mixed.test", "alias.test"]) {
      const failure = await failureOf(fetcher.fetch(`http://${name}/`));
      expect(failure.kind).toBe("unreachable");
      expect(failure.cause).toMatchObject({ message: expect.stringContaining("is not allowed") });
    }
  });

  test("of a name that cannot be resolved is unreachable, whatever the DNS error", async () => {
    const dns = await startDnsServer({ "broken.test": { rcode: 2 }, "silent.test": SILENT });
    const fetcher = openFetcher("", { names: { servers: [dns.address] } });
    const names = ["unknown.test", "broken.test", "silent.test"];
    const failures = await Promise.all(names.map((name) => failureOf(fetcher.fetch(`http://${name}/`))));
    expect(new Set(failures.map(({ kind, message }) => `${kind} ${message}`)).size).toBe(1);
    expect(failures[0]!.kind).toBe("unreachable");
  });

  test("does not wait for 64 others whose DNS server is silent, and an abort frees their slots", async () => {
    const server = await startImageServer();
    const names = Object.fromEntries(Array.from({ length: 64 }, (_, i) => [`silent-${i}.test`, SILENT]));
    const dns = await startDnsServer({ ...names, "images.test": { a: ["127.0.0.1"] } });
    const hostsPath = await writeHostsFile("127.0.0.1 hosts.test\n");
    const options = { names: { servers: [dns.address], hostsPath } };
    const fetcher = openFetcher("127.0.0.1", options);
    const stop = new AbortController();
    setMaxListeners(0, stop.signal);
    const hold = (count: number) =>
      Array.from({ length: count }, (_, i) =>
        fetcher.fetch(`http://silent-${i}.test/`, { signal: stop.signal }).catch((fault: unknown) => fault),
      );
    const held = hold(63);
    await expect.poll(() => dns.queries.length).toBeGreaterThanOrEqual(2 * 63);
    const expectFirst = async (fetching: Promise<Uint8Array>) => {
      const first = await Promise.race([fetching, ...held]);
      expect(first).toBe(await fetching);
    };
    await expectFirst(fetcher.fetch(`http://images.test:${server.port}/`));
    await expectFirst(fetcher.fetch(`http://hosts.test:${server.port}/`));
    const all = [...held, ...hold(1)];
    expect((await failureOf(fetcher.fetch(`http://hosts.test:${server.port}/`))).kind).toBe("tooMany");
    const other = openFetcher("127.0.0.1", options);
    await expectFirst(other.fetch(`http://images.test:${server.port}/`));

    stop.abort(CANCELLED);
    expect(new Set(await Promise.all(all))).toEqual(new Set([CANCELLED]));
    expect(await fetcher.fetch(`http://hosts.test:${server.port}/`)).toHaveLength(IMAGE.length);
  });

  test("that is aborted sends no more DNS queries", async () => {
    const dns = await startDnsServer({ "silent.test": SILENT });
    const fetcher = openFetcher("", { names: { servers: [dns.address] } });
    const stop = new AbortController();
    const fetching = fetcher.fetch("http://silent.test/", { signal: stop.signal });
    await expect.poll(() => dns.queries.length).toBe(2);
    stop.abort(CANCELLED);
    await expect(fetching).rejects.toBe(CANCELLED);
    await new Promise((done) => setTimeout(done, 700));
    expect(dns.queries).toHaveLength(2);
  });

  test("that is aborted fails neither others for the same name nor its own retry", async () => {
    const server = await startImageServer();
    const releases: (() => void)[] = [];
    const resolve = (_: string, signal: AbortSignal) =>
      new Promise<string[]>((done, fail) => {
        releases.push(() => done(["127.0.0.1"]));
        signal.addEventListener("abort", () => fail(signal.reason));
      });
    const fetcher = openFetcher("127.0.0.1", { resolve });
    const url = `http://images.test:${server.port}/`;
    const stop = new AbortController();
    const again = Array.from({ length: 10 }, () =>
      fetcher.fetch(url, { signal: stop.signal }).catch(() => fetcher.fetch(url)),
    );
    stop.abort(CANCELLED);
    const other = fetcher.fetch(url);
    const releasing = setInterval(() => {
      for (const release of releases.splice(0)) release();
    }, 5);
    onTestFinished(() => clearInterval(releasing));
    for (const image of await Promise.all([...again, other])) expect(image).toHaveLength(IMAGE.length);
  });
});
