import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { finished } from "node:stream/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type PhotoResult, REPORT_FORMATS } from "../../src/cli/report-formats.ts";
import { openResultFile, readWrittenResults } from "../../src/cli/result-file.ts";

const ANALYSIS = { width: 7, height: 5, facesFound: 0, faces: [] };
const RESULTS: readonly PhotoResult[] = [
  { file: "a.jpg", analysis: ANALYSIS },
  { file: 'b, "c"\\\n.jpg', analysis: ANALYSIS, model: "model-1" },
  { file: "broken, ü.jpg", error: 'is a "folder"' },
  { file: `${"long/".repeat(800)}d.jpg`, analysis: ANALYSIS },
];
const TEXT = RESULTS.map((result) => REPORT_FORMATS.jsonl.format(result)).join("");

let folder: string;
let path: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "visage-result-file-"));
  path = join(folder, "new", "results.jsonl");
});
afterAll(() => rm(folder, { recursive: true }));

async function write(text: string, keepBytes?: number): Promise<void> {
  const output = await openResultFile(path, keepBytes);
  await finished(output.end(text));
}

test("a missing file has no results", async () => {
  expect(await readWrittenResults(path)).toEqual({ files: new Set(), failures: 0, bytes: 0 });
});

test("the photos of all lines are found, and errors are counted", async () => {
  await write(TEXT);
  expect(await readWrittenResults(path)).toEqual({
    files: new Set(RESULTS.map(({ file }) => file)),
    failures: 1,
    bytes: Buffer.byteLength(TEXT),
  });
});

test("lines that are longer than a chunk are read", async () => {
  const embedding = Array.from({ length: 400_000 }, (_, i) => i / 7);
  const line = (file: string) => `${JSON.stringify({ file, faces: [{ embedding }] })}\n`;
  await write(line("1.jpg") + line("2.jpg") + line("3.jpg"));
  const { files, bytes } = await readWrittenResults(path);
  expect([...files]).toEqual(["1.jpg", "2.jpg", "3.jpg"]);
  expect(bytes).toBe(3 * line("1.jpg").length);
});

test("a line that was cut at any place is replaced", async () => {
  const whole = REPORT_FORMATS.jsonl.format(RESULTS[0]!);
  const next = REPORT_FORMATS.jsonl.format(RESULTS[2]!);
  for (let length = 0; length < Buffer.byteLength(next); length++) {
    await write(whole + Buffer.from(next).subarray(0, length).toString("latin1"));
    const { files, bytes } = await readWrittenResults(path);
    expect([...files]).toEqual(["a.jpg"]);
    await write(next, bytes);
    expect(await readFile(path, "utf8")).toBe(whole + next);
  }
});

test.each([
  ["a line of another program", '{"file":"a.jpg","faces":[]}\n{"name":"x"}\n', 2],
  ["a CSV file", "file,error,width\na.jpg,,7\n", 1],
  ["a JSON array", '[{"file":"a.jpg","faces":[]}]\n', 1],
  ["text without a line feed", "notes", 1],
])("%s is an error, and the file stays as it is", async (_, text, line) => {
  await writeFile(path, text);
  await expect(readWrittenResults(path)).rejects.toThrow(
    `${path}: line ${line} is not a result of visage analyze --jsonl`,
  );
  expect(await readFile(path, "utf8")).toBe(text);
});
