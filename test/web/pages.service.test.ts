import { readdirSync } from "node:fs";
import { get as httpGet, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RunningService } from "../../src/main.ts";
import { PACKAGE_ROOT } from "../../src/package-root.ts";
import { FILES, PAGES, SERVICE_INFO_PATH } from "../../src/web/page-table.ts";
import { ADMIN_KEY, startTestService } from "../support/service.ts";

let service: RunningService;
let withoutPages: RunningService;
beforeAll(async () => {
  [service, withoutPages] = await Promise.all([
    startTestService({ VISAGE_ADMIN_KEY: ADMIN_KEY }),
    startTestService({ VISAGE_WEB: "off" }),
  ]);
});
afterAll(() => Promise.all([service.close(), withoutPages.close()]));

const get = (path: string, init: RequestInit = {}, { port } = service) =>
  fetch(`http://127.0.0.1:${port}${path}`, init);

/** Sends a request without the decompression of fetch. */
async function getEncoded(path: string, headers: Record<string, string>, method = "GET") {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    httpGet({ host: "127.0.0.1", port: service.port, path, headers, method }, resolve).on("error", reject);
  });
  const body = Buffer.concat(await response.toArray());
  return { status: response.statusCode, headers: response.headers, body };
}

const pagePaths = PAGES.map(({ path }) => path);
const paths = [...pagePaths, ...FILES.map(({ path }) => path), SERVICE_INFO_PATH];
const assets = () =>
  readdirSync(join(PACKAGE_ROOT, "dist/src/web/assets"))
    .filter((name) => !/\.(br|gz)$/.test(name))
    .map((name) => `/assets/${name}`);

test.each(paths)("%s is served without an API key, with security headers, and revalidated", async (path) => {
  const response = await get(path);
  expect(response.status).toBe(200);
  expect(response.headers.get("content-security-policy")).toContain("default-src 'none'");
  expect(response.headers.get("x-content-type-options")).toBe("nosniff");
  expect(response.headers.get("cache-control")).toBe("no-cache");
  expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(0);
});

test("assets have a hash in their names and are cached forever", async () => {
  expect(assets().length).toBeGreaterThan(3);
  for (const path of assets()) {
    expect(path).toMatch(/-[0-9a-zA-Z]{8}\.\w+$/);
    const response = await get(path);
    expect(response.status, path).toBe(200);
    expect(response.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
    await response.body?.cancel();
  }
});

test.each(pagePaths)("every file that %s refers to is served", async (path) => {
  const html = await (await get(path)).text();
  const references = [...html.matchAll(/(?:src|href)="([^"#]+)"/g)].map((match) => match[1]!);
  const local = references.filter((reference) => !/^[a-z]+:/.test(reference));
  expect(local.length).toBeGreaterThan(3);
  for (const reference of local) {
    const response = await get(new URL(reference, `http://127.0.0.1${path}`).pathname);
    expect(response.status, reference).toBe(200);
    await response.body?.cancel();
  }
});

test.each(pagePaths)("the scripts of %s are loaded together, not one after another", async (path) => {
  const html = await (await get(path)).text();
  const [, main] = html.match(/<script type="module" src="([^"]+)"/)!;
  const preloaded = [...html.matchAll(/<link rel="modulepreload" href="([^"]+)"/g)].map((match) => match[1]!);
  for (const script of [main!, ...preloaded]) {
    const text = await (await get(`/${script}`)).text();
    const imported = [...text.matchAll(/(?:from|import)"\.\/([^"]+)"/g)].map((match) => `assets/${match[1]}`);
    for (const name of imported) expect(preloaded).toContain(name);
  }
});

describe("compression", () => {
  test.each([
    ["br", brotliDecompressSync],
    ["gzip", gunzipSync],
  ] as const)("text is sent as %s to a client that accepts it", async (encoding, decompress) => {
    const texts = [...paths, ...assets()].filter((path) => !/\.(ico|webp|jpg|png)$/.test(path));
    for (const path of texts) {
      const plain = await getEncoded(path, {});
      const compressed = await getEncoded(path, { "accept-encoding": encoding });
      expect(compressed.headers["content-encoding"], path).toBe(encoding);
      expect(compressed.headers["content-length"], path).toBe(String(compressed.body.length));
      expect(compressed.headers.vary, path).toContain("Accept-Encoding");
      expect(compressed.headers.etag, path).not.toBe(plain.headers.etag);
      expect(decompress(compressed.body).equals(plain.body), path).toBe(true);
      expect(plain.headers["content-encoding"], path).toBeUndefined();
    }
  });

  test("a compressed file that has not changed is answered with 304", async () => {
    const encoded = { "accept-encoding": "br" };
    const { headers } = await getEncoded("/", encoded);
    for (const tag of [headers.etag!, `W/${headers.etag}`, `"other", ${headers.etag}`, "*"]) {
      const again = await getEncoded("/", { ...encoded, "if-none-match": tag });
      expect([tag, again.status, again.body.length]).toEqual([tag, 304, 0]);
      expect(again.headers.vary).toContain("Accept-Encoding");
    }
    const changed = await getEncoded("/", { ...encoded, "if-none-match": '"other"' });
    expect(changed.status).toBe(200);
  });

  test("HEAD has the headers of GET and no body", async () => {
    for (const encoding of ["identity", "br", "gzip"]) {
      const wanted = { "accept-encoding": encoding };
      const { date: _, "x-request-id": __, ...expected } = (await getEncoded("/", wanted)).headers;
      const head = await getEncoded("/", wanted, "HEAD");
      expect([head.status, head.body.length]).toEqual([200, 0]);
      expect(head.headers).toMatchObject(expected);
    }
  });
});

test.each([
  ["/playground", "/"],
  ["/playground/", "/"],
  ["/docs/", "/docs"],
])("%s redirects to %s, also below the path of a proxy", async (path, target) => {
  const response = await get(path, { redirect: "manual" });
  expect(response.status).toBe(308);
  const location = response.headers.get("location")!;
  expect(new URL(location, `http://host${path}`).pathname).toBe(target);
  expect(new URL(location, `http://host/faces${path}`).pathname).toBe(`/faces${target}`);
});

test("/favicon.ico is an icon", async () => {
  const response = await get("/favicon.ico");
  expect(response.headers.get("content-type")).toBe("image/x-icon");
  expect([...new Uint8Array(await response.arrayBuffer()).slice(0, 4)]).toEqual([0, 0, 1, 0]);
});

test("the pages know the version and the limits of the service, and what is switched off", async () => {
  const info = (await (await get(SERVICE_INFO_PATH)).json()) as { maxImageBytes: number };
  expect(info).toMatchObject({
    version: expect.stringMatching(/^\d+\.\d+\.\d+/),
    imageFormats: ["jpeg", "png"],
    off: [],
    needs: expect.objectContaining({ v1IdentifyFaces: ["identify"], getFaceVec: ["analyze", "embeddings"] }),
  });
  expect(info.maxImageBytes).toBeGreaterThan(0);
});

test("VISAGE_WEB=off disables the pages", async () => {
  for (const path of [...paths, "/playground", assets()[0]!])
    expect((await get(path, {}, withoutPages)).status, path).toBe(404);
});
