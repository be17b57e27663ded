import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { AuditFile } from "../../src/audit/audit-file.ts";
import { PACKAGE_ROOT } from "../../src/package-root.ts";

const root = mkdtempSync(join(tmpdir(), "visage-audit-"));
afterAll(() => rmSync(root, { recursive: true }));

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(root, "test-"));
  path = join(folder, "audit.jsonl");
});

function openFile(at = path): AuditFile {
  const file = new AuditFile(at);
  onTestFinished(() => file.close());
  return file;
}

/** All lines of the file and the rotated ones, by file. */
function linesByFile(): string[][] {
  return readdirSync(folder)
    .sort()
    .map((name) => readFileSync(join(folder, name), "utf8").trimEnd().split("\n"));
}

test("only the owner can read a new file", async () => {
  await openFile().append("1\n");
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test("a file that was renamed, removed or emptied is begun anew", async () => {
  const file = openFile();
  await file.append("1\n");
  renameSync(path, `${path}.1`);
  await file.append("2\n");
  expect(linesByFile()).toEqual([["2"], ["1"]]);
  rmSync(path);
  await file.append("3\n");
  expect(linesByFile()).toEqual([["3"], ["1"]]);
  truncateSync(path);
  await file.append("4\n");
  expect(linesByFile()).toEqual([["4"], ["1"]]);
});

test("a line that was written in part only does not spoil the next one", async () => {
  const file = openFile();
  await file.append("1\n");
  appendFileSync(path, '{"half');
  await file.append("2\n");
  expect(linesByFile()).toEqual([["1", '{"half', "2"]]);
});

test("a full disk and a folder that does not exist are errors", async () => {
  await expect(openFile("/dev/full").append("1\n")).rejects.toThrow("ENOSPC");
  await expect(new AuditFile(join(folder, "none", "file")).open()).rejects.toThrow("ENOENT");
});

test("two processes that append and rotate lose no line", async () => {
  const [lines, processes] = [2_000, 2];
  const module = JSON.stringify(join(PACKAGE_ROOT, "dist/src/audit/audit-file.js"));
  const code = `const { AuditFile } = await import(${module});
    const file = new AuditFile(${JSON.stringify(path)}, 500);
    for (let i = 0; i < ${lines}; i++) await file.append(process.argv[1] + " " + i + "\\n");`;
  await Promise.all(
    Array.from({ length: processes }, async (_, i) => {
      const child = spawn(process.execPath, ["--input-type=module", "--eval", code, String(i)], {
        stdio: "inherit",
      });
      expect(await once(child, "exit")).toEqual([0, null]);
    }),
  );
  const files = linesByFile();
  expect(files.length).toBeGreaterThan(10);
  const expected = Array.from({ length: processes }, (_, i) =>
    Array.from({ length: lines }, (_, j) => `${i} ${j}`),
  );
  // A file that was just begun may be renamed while it is empty.
  expect(files.flat().filter(Boolean).toSorted()).toEqual(expected.flat().toSorted());
});
