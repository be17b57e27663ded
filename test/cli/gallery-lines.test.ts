import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { formatFace, parseFace, readFaceLines } from "../../src/cli/gallery-lines.ts";
import { randomVector } from "../support/vectors.ts";

const FACE = {
  personId: "17",
  faceId: "f",
  displayName: 'Ann "the boss"\nLee',
  template: { embedding: randomVector(1), model: "m" },
};

async function linesOf(content: string): Promise<[number, string][]> {
  const folder = await mkdtemp(join(tmpdir(), "visage-lines-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, "faces.jsonl");
  await writeFile(file, content);
  const lines: [number, string][] = [];
  for await (const { number, text } of readFaceLines(file, new AbortController().signal))
    lines.push([number, text]);
  return lines;
}

test("a face that is written is read again, bit by bit", () => {
  const line = formatFace({ ...FACE, createTime: new Date(0), expireTime: undefined });
  expect(line.indexOf("\n")).toBe(line.length - 1);
  expect(parseFace(line)).toEqual(FACE);
  const dated = { ...FACE, expireTime: new Date("2026-01-02T03:04:05.678Z") };
  expect(parseFace(formatFace({ ...dated, createTime: new Date(0) }))).toEqual(dated);
});

test("a line without face id and name is a face", () => {
  const values = [...FACE.template.embedding];
  const face = parseFace(JSON.stringify({ personId: "p", embedding: { values, model: "m" } }));
  expect(face).toEqual({
    personId: "p",
    faceId: undefined,
    displayName: undefined,
    template: FACE.template,
  });
});

test.each([
  "",
  "null",
  "[]",
  "{",
  "{}",
  '{"personId":"p"}',
  '{"personId":1,"embedding":{"values":[],"model":"m"}}',
  '{"personId":"p","faceId":1,"embedding":{"values":[],"model":"m"}}',
  '{"personId":"p","embedding":{"values":["1"],"model":"m"}}',
  '{"personId":"p","embedding":{"values":"1","model":"m"}}',
  '{"personId":"p","embedding":null}',
  '{"personId":"p","expireTime":"soon","embedding":{"values":[],"model":"m"}}',
  '{"personId":"p","embedding":{"values":[1]}}',
])("the line %j is not a face", (line) => {
  expect(() => parseFace(line)).toThrow("is not a face as export writes it");
});

test("lines have their numbers, without empty ones and with any line end", async () => {
  expect(await linesOf("a\n\nb\r\n  \nc")).toEqual([
    [1, "a"],
    [3, "b\r"],
    [5, "c"],
  ]);
  expect(await linesOf("")).toEqual([]);
});

test("a line may lie in several chunks, and letters too", async () => {
  const long = "é".repeat(30_000);
  const lines = Array.from({ length: 20 }, (_, i) => `${i}${long}`);
  expect((await linesOf(lines.join("\n"))).map(([, text]) => text)).toEqual(lines);
});

test("a line that is longer than any face is rejected before all of it is read", async () => {
  await expect(linesOf(`a\n${"x".repeat(1_000_000)}`)).rejects.toThrow("line 2 is not a face");
});
