import { execFile, spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RunningService } from "../src/main.ts";
import { PACKAGE_ROOT } from "../src/model-manifest.ts";
import { startTestService, USER } from "./support/service.ts";

const SAMPLES = join(PACKAGE_ROOT, "node_modules/@vladmandic/face-api/demo");
const run = promisify(execFile);
// CI must not pass because a tool is missing.
const isCi = process.env.CI === "true";
const hasTools = ["bash", "curl", "base64"].every((tool) => spawnSync(tool, ["--version"]).status === 0);

let service: RunningService;
let folder: string;
beforeAll(async () => {
  service = await startTestService();
  folder = mkdtempSync(join(tmpdir(), "visage-readme-"));
  for (const [name, sample] of [
    ["one.jpg", 1],
    ["two.jpg", 3],
    ["photo.jpg", 3],
  ] as const)
    copyFileSync(join(SAMPLES, `sample${sample}.jpg`), join(folder, name));
});
afterAll(() => service.close());

/** The shell blocks under a heading of the README, with the port of the server that runs here. */
function blocksUnder(heading: string): string[] {
  const readme = readFileSync(join(PACKAGE_ROOT, "README.md"), "utf8");
  const section = readme.split(`\n## ${heading}\n`)[1]!.split("\n## ")[0]!;
  return [...section.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block]) =>
    block!
      .replaceAll("localhost:8080", `127.0.0.1:${service.port}`)
      .replaceAll("npx buf", join(PACKAGE_ROOT, "node_modules/.bin/buf")),
  );
}

async function answersOf(block: string): Promise<Record<string, unknown>[]> {
  const { stdout } = await run("bash", ["-euc", block], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder, USER_ID: USER },
    maxBuffer: 2 ** 24,
  });
  // Between two braces without a comma ends one document and begins the next.
  return JSON.parse(`[${stdout.replaceAll(/\}\s*\{/g, "},{")}]`) as Record<string, unknown>[];
}

describe.skipIf(!hasTools && !isCi)("the README's commands", () => {
  test("of plain HTTP do what they say", async () => {
    const [match, compare, attributes, vector] = await answersOf(blocksUnder("The four operations")[0]!);
    expect(match).toMatchObject({ status: "ok", data: { status: "match" } });
    expect(compare).toMatchObject({ status: "ok", message: "Fetched confidence value." });
    expect(attributes).toMatchObject({ status: "ok", data: { attributes: { image_size: [1350, 1920] } } });
    expect(vector).toMatchObject({ status: "ok", message: "Fetched vector data." });
  });

  test("of gRPC do the same", async () => {
    const [match, compare, attributes, vector] = await answersOf(blocksUnder("The four operations")[1]!);
    expect(match).toMatchObject({ status: "ok", data: { status: "match" } });
    expect(compare).toMatchObject({ status: "ok", message: "Fetched confidence value." });
    expect(attributes).toMatchObject({ status: "ok", data: { attributes: { image_size: [1350, 1920] } } });
    expect(vector).toMatchObject({ status: "ok", message: "Fetched vector data." });
  });
});
