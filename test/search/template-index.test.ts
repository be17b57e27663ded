import { mkdtempSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable, Writable } from "node:stream";
import { describe, expect, test } from "vitest";
import { distanceOf } from "../../src/core/index.ts";
import { IndexFileError, type SearchOptions, TemplateIndex } from "../../src/search/template-index.ts";
import { clusteredVectors, randomVector, randomVectors } from "../support/vectors.ts";

type Templates = Readonly<Record<string, Float32Array>>;

function withIds(vectors: readonly Float32Array[]): Templates {
  return Object.fromEntries(vectors.map((vector, i) => [`person ${i}`, vector]));
}

function indexOf(templates: Templates): TemplateIndex {
  const index = new TemplateIndex();
  for (const [id, vector] of Object.entries(templates)) index.add(id, vector);
  return index;
}

/** Reference implementation: all templates sorted by distance. */
function rankByScan(templates: Templates, query: Float32Array) {
  return Object.entries(templates)
    .map(([id, vector]) => ({ id, distance: distanceOf(vector, query) }))
    .toSorted((one, other) => one.distance - other.distance || (one.id < other.id ? -1 : 1));
}

describe.each([
  ["random vectors", randomVectors(5000, 1)],
  ["clusters", clusteredVectors(500, 10, 2)],
])("a search among %s", (_, vectors) => {
  const templates = withIds(vectors);
  const index = indexOf(templates);
  const queries = [...randomVectors(10, 3), ...vectors.slice(0, 10), ...clusteredVectors(2, 5, 2)];
  const rankings = queries.map((query) => rankByScan(templates, query));

  test.each<SearchOptions>([
    {},
    { k: 10 },
    { within: 0.5 },
    { k: 7, within: 0.4 },
    { k: 6000 },
    { k: 3, within: 0 },
  ])("finds exactly what a linear scan finds: %j", (options) => {
    const { k = 1, within = 1e9 } = options;
    for (const [i, query] of queries.entries()) {
      const expected = rankings[i]!.filter(({ distance }) => distance < within).slice(0, k);
      expect(index.nearest(query, options)).toEqual(expected);
    }
  });
});

test("`within` excludes the limit itself", () => {
  const index = new TemplateIndex();
  const at = (x: number) => Float32Array.from({ length: 128 }, (_, i) => (i === 0 ? x : 0));
  index.add("near", at(0.25));
  expect(index.nearest(at(0), { within: 0.25 })).toEqual([]);
  expect(index.nearest(at(0), { within: 0.250001 })).toEqual([{ id: "near", distance: 0.25 }]);
});

test("equally near templates are ordered by id", () => {
  const vector = randomVector(1);
  const index = indexOf({ c: vector, a: vector, b: vector });
  expect(index.nearest(vector, { k: 2 }).map(({ id }) => id)).toEqual(["a", "b"]);
});

test("a removed template is not found, all others are", () => {
  const templates = withIds(randomVectors(3000, 4));
  const index = indexOf(templates);
  const kept = Object.fromEntries(Object.entries(templates).filter((_, i) => i % 3 !== 0));
  for (const id of Object.keys(templates)) if (!(id in kept)) expect(index.remove(id)).toBe(true);
  expect(index.remove("person 0")).toBe(false);
  expect(index.size).toBe(2000);
  for (const query of randomVectors(10, 5))
    expect(index.nearest(query, { k: 5 })).toEqual(rankByScan(kept, query).slice(0, 5));
});

test("an id is any string and has one template, the last added", () => {
  const [first, second] = randomVectors(2, 6) as [Float32Array, Float32Array];
  const index = indexOf({ "": first, "Zoë \n 😀": first, __proto__x: first });
  index.add("", second);
  expect(index.size).toBe(3);
  expect(index.nearest(second)).toEqual([{ id: "", distance: 0 }]);
  expect(index.has("Zoë \n 😀")).toBe(true);
});

test("an empty index finds nothing", () => {
  expect(new TemplateIndex().nearest(randomVector(1), { k: 3 })).toEqual([]);
});

test.each([
  ["127 numbers", new Float32Array(127)],
  ["a NaN", new Float32Array(128).fill(Number.NaN)],
  ["a number too large for 32 bits", new Array<number>(128).fill(1e300)],
])("a vector with %s is rejected", (_, vector) => {
  const index = new TemplateIndex();
  expect(() => index.add("a", vector)).toThrow(RangeError);
  expect(() => index.nearest(vector)).toThrow(RangeError);
  expect(index.size).toBe(0);
});

describe("a saved index", () => {
  const templates = withIds(randomVectors(5000, 7));
  const query = randomVector(8);
  const file = join(mkdtempSync(join(tmpdir(), "visage-index-")), "templates");

  test("is the same after loading, from a file or a stream", async () => {
    const index = indexOf(templates);
    await index.save(file);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const pipe = new PassThrough();
    const [, piped] = await Promise.all([index.save(pipe), TemplateIndex.load(pipe)]);
    for (const loaded of [await TemplateIndex.load(file), piped]) {
      expect(loaded.size).toBe(5000);
      expect(loaded.nearest(query, { k: 20 })).toEqual(index.nearest(query, { k: 20 }));
    }
  });

  test("may be empty", async () => {
    const pipe = new PassThrough();
    const [, loaded] = await Promise.all([new TemplateIndex().save(pipe), TemplateIndex.load(pipe)]);
    expect(loaded.size).toBe(0);
  });

  test.each([0, 4, 10, 100, 200_000, -1])("is rejected when truncated at %d", async (length) => {
    const bytes = readFileSync(file);
    const part = `${file}.part`;
    writeFileSync(part, bytes);
    truncateSync(part, (bytes.length + length) % bytes.length);
    await expect(TemplateIndex.load(part)).rejects.toThrow(IndexFileError);
  });

  test("is rejected with a changed bit or with bytes after its end", async () => {
    const bytes = readFileSync(file);
    const changed = Buffer.from(bytes);
    changed[1_000_000]! ^= 1;
    await expect(TemplateIndex.load(Readable.from([changed]))).rejects.toThrow("damaged");
    await expect(TemplateIndex.load(Readable.from([bytes, Buffer.from("x")]))).rejects.toThrow("damaged");
  });

  test("of another format is rejected", async () => {
    const foreign = readFileSync(new URL("../../package.json", import.meta.url));
    await expect(TemplateIndex.load(Readable.from([foreign]))).rejects.toThrow("not a template file");
  });

  test("stays intact when a later save fails", async () => {
    const index = indexOf(templates);
    await expect(index.save(join(file, "no-folder"))).rejects.toThrow();
    const broken = new Writable({ write: (_chunk, _encoding, done) => done(new Error("disk full")) });
    await expect(index.save(broken)).rejects.toThrow("disk full");
    expect((await TemplateIndex.load(file)).size).toBe(5000);
  });

  test("cannot change while it is being saved", async () => {
    const index = indexOf({ a: query });
    const saved = index.save(file);
    expect(() => index.add("b", query)).toThrow("being saved");
    expect(() => index.remove("a")).toThrow("being saved");
    await saved;
    expect(index.remove("a")).toBe(true);
  });
});
