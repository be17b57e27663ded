import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { chooseEncoding, compress } from "../../src/web/content-encoding.ts";

test.each([
  [undefined, "identity"],
  ["", "identity"],
  ["br", "br"],
  ["gzip, deflate, br, zstd", "br"],
  ["gzip", "gzip"],
  ["GZIP", "gzip"],
  ["br;q=0.5, gzip;q=0.8", "gzip"],
  ["br;q=0, gzip", "gzip"],
  ["br;q=0, gzip;q=0", "identity"],
  ["*", "br"],
  ["*;q=0.5, br;q=0", "gzip"],
  ["*;q=0", "identity"],
  ["identity, br;q=0.5", "identity"],
  ["identity;q=0.5, gzip", "gzip"],
  ["br;q=none", "identity"],
  [",;,;q=1", "identity"],
])("Accept-Encoding %j is answered in %s", (header, expected) => {
  expect(chooseEncoding(header)).toBe(expected);
});

test("compresses without loss", () => {
  const bytes = Buffer.from("face ".repeat(1000));
  expect(brotliDecompressSync(compress(bytes, "br"))).toEqual(bytes);
  expect(gunzipSync(compress(bytes, "gzip"))).toEqual(bytes);
});
