import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, linkSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import type { AnalysisReport } from "../../src/cli/analysis-report.ts";
import { PACKAGE_ROOT } from "../../src/package-root.ts";
import { photograph } from "../support/images.ts";

const CLI = join(PACKAGE_ROOT, "dist/src/cli/main.js");
const PHOTOS = 500;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "visage-analyze-"));
  mkdirSync(join(folder, "photos"));
  writeFileSync(join(folder, "photo"), photograph(1));
  for (let i = 0; i < PHOTOS; i++)
    linkSync(join(folder, "photo"), join(folder, "photos", `${String(i).padStart(3, "0")}.jpg`));
});
afterAll(() => rmSync(folder, { recursive: true }));

function spawnAnalysis(...args: readonly string[]) {
  const child = spawn(process.execPath, [CLI, "analyze", ...args], {
    cwd: folder,
    env: { PATH: process.env.PATH, VISAGE_WORKERS: "2" },
    stdio: ["ignore", "ignore", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

/** Starts the analysis of the photos, and waits until some results are written. */
async function startAnalysis(output: string, photos = "photos") {
  const child = spawnAnalysis(photos, "--output", output);
  const path = join(folder, output);
  const size = () => (existsSync(path) ? readFileSync(path).length : 0);
  await expect.poll(size, { timeout: 30_000, interval: 5 }).toBeGreaterThan(10_000);
  return { child, path };
}

/** Reads the complete lines of an output. */
function readReports(path: string): AnalysisReport[] {
  const lines = readFileSync(path, "utf8").split("\n").slice(0, -1);
  return lines.map((line) => JSON.parse(line) as AnalysisReport);
}

function fileNames(reports: readonly AnalysisReport[]): string[] {
  return reports.map(({ file }) => file);
}

function expectedNames(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `photos/${String(i).padStart(3, "0")}.jpg`);
}

test.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const)("%s ends the analysis with valid output", async (signal, exitCode) => {
  const { child, path } = await startAnalysis(`${signal}.json`);
  child.kill(signal);
  const [[code], errors] = await Promise.all([once(child, "exit"), child.stderr!.toArray()]);
  expect(code).toBe(exitCode);
  const reports = JSON.parse(readFileSync(path, "utf8")) as AnalysisReport[];
  expect(errors.join("")).toContain(`Interrupted after ${reports.length} photos\n`);
  expect(fileNames(reports)).toEqual(expectedNames(reports.length));
  expect(reports.length).toBeLessThan(PHOTOS);
});

test("a killed process leaves whole lines, except the last, and another one continues", async () => {
  const firstPhotos = "photos/0[0-4]*.jpg";
  const { child, path } = await startAnalysis("some.jsonl", firstPhotos);
  child.kill("SIGKILL");
  await once(child, "exit");
  const written = readReports(path);
  expect(fileNames(written)).toEqual(expectedNames(written.length));
  const next = spawnAnalysis(firstPhotos, "--output", "some.jsonl", "--resume");
  const [[code], errors] = await Promise.all([once(next, "exit"), next.stderr!.toArray()]);
  expect(errors.join("")).toContain(`, and ${written.length} photos from before\n`);
  expect(code).toBe(0);
  expect(fileNames(readReports(path))).toEqual(expectedNames(50));
});

test.skipIf(process.platform !== "linux")("a killed worker fails only its photo", async () => {
  const { child, path } = await startAnalysis("lost.jsonl");
  const [worker] = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, "utf8").split(" ");
  process.kill(Number(worker), "SIGSTOP");
  // The photo of the stopped worker holds up the lines of the others.
  for (let last = 0; last < readFileSync(path).length; await sleep(500)) last = readFileSync(path).length;
  process.kill(Number(worker), "SIGKILL");
  const failed = () => readFileSync(path, "utf8").includes('"error":"The worker process has ended."');
  await expect.poll(failed, { timeout: 30_000, interval: 20 }).toBe(true);
  const before = readFileSync(path).length;
  await expect.poll(() => readFileSync(path).length, { timeout: 30_000 }).toBeGreaterThan(before + 50_000);
  child.kill("SIGINT");
  await once(child, "exit");
  const reports = readFileSync(path, "utf8").trimEnd().split("\n");
  expect(reports.filter((line) => line.includes('"error"'))).toHaveLength(1);
});
