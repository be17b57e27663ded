import { execFile, spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { RunningService } from "../../src/main.ts";
import { PACKAGE_ROOT } from "../../src/package-root.ts";
import { codeBlocks, readMarkdown, sectionUnder } from "../support/markdown.ts";
import { startTestService, USER } from "../support/service.ts";

const SAMPLE = join(PACKAGE_ROOT, "node_modules/@vladmandic/face-api/demo/sample3.jpg");
const run = promisify(execFile);
// In CI a missing tool must fail the tests.
const isCi = process.env.CI === "true";
const hasTools = ["bash", "curl", "base64"].every((tool) => spawnSync(tool, ["--version"]).status === 0);

let service: RunningService;
let folder: string;
beforeAll(async () => {
  service = await startTestService();
  folder = mkdtempSync(join(tmpdir(), "visage-docs-"));
  for (const name of ["one.jpg", "photo.jpg"]) copyFileSync(SAMPLE, join(folder, name));
  // The same photograph in another size: similar, but not equal.
  await sharp(SAMPLE).resize(1000).toFile(join(folder, "two.jpg"));
});
afterAll(async () => {
  await service.close();
  rmSync(folder, { recursive: true });
});

/** Returns the shell commands under a heading, adapted to the service and the tools of this test. */
function commandsUnder(path: string, heading: string): string {
  return codeBlocks(sectionUnder(readMarkdown(path), heading), "sh")
    .join("\n")
    .replaceAll("localhost:8080", `127.0.0.1:${service.port}`)
    .replaceAll(/npx (?=buf|visage)/g, `${join(PACKAGE_ROOT, "node_modules/.bin")}/`);
}

async function outputOf(commands: string): Promise<string> {
  const { stdout } = await run("bash", ["-euc", commands], {
    cwd: folder,
    env: {
      PATH: process.env.PATH,
      HOME: folder,
      API_KEY: USER,
      VISAGE_DATA_DIR: join(folder, "data"),
      VISAGE_PORT: String(service.port),
    },
    maxBuffer: 2 ** 24,
  });
  return stdout;
}

interface AnalyzedImage {
  readonly faces: readonly {
    readonly landmarks: readonly object[];
    readonly embedding: { readonly values: readonly number[] };
  }[];
  readonly facesFound: number;
}

interface ComparedFaces {
  readonly matches: readonly { readonly matched?: boolean }[];
  readonly threshold: number;
}

/** Parses JSON documents that follow each other. */
function documentsIn(output: string): unknown[] {
  return JSON.parse(`[${output.replaceAll(/\}\s*\{/g, "},{")}]`) as unknown[];
}

describe.skipIf(!hasTools && !isCi)("the commands in the documentation", () => {
  const matched = { status: "ok", data: { status: "match" } };
  const compared = { status: "ok", message: "Fetched confidence value." };
  const attributes = { status: "ok", data: { attributes: { image_size: [1350, 1920] } } };
  const vector = { status: "ok", message: "Fetched vector data." };

  test("call the four operations over plain HTTP", async () => {
    const output = await outputOf(commandsUnder("README.md", "Programs of the original service"));
    expect(documentsIn(output)).toMatchObject([matched, attributes, vector, compared]);
  });

  test("call the typed API over plain HTTP", async () => {
    const output = await outputOf(commandsUnder("README.md", "Operations"));
    const [comparison, analysis, embeddings] = documentsIn(output) as [ComparedFaces, ...AnalyzedImage[]];
    expect(comparison.matches[0]).toMatchObject({ matched: true, threshold: 0.5 });
    expect(analysis).toMatchObject({ facesFound: 3 });
    expect(embeddings!.faces.map(({ embedding }) => embedding.values.length)).toEqual([128, 128, 128]);
  });

  test("call the four operations over gRPC", async () => {
    const output = await outputOf(commandsUnder("docs/api.md", "Requests over gRPC"));
    expect(documentsIn(output)).toMatchObject([matched, compared, attributes, vector]);
  });

  test("analyze an image with the typed API", async () => {
    const output = await outputOf(commandsUnder("docs/typed-api.md", "Analyze an image"));
    const size = { imageSize: { width: 1920, height: 1350 }, facesFound: 3 };
    const [file, json, grpc] = documentsIn(output) as AnalyzedImage[];
    expect(file).toMatchObject(size);
    expect(file!.faces.map(({ landmarks }) => landmarks.length)).toEqual([68, 68, 68]);
    for (const one of [json, grpc]) {
      expect(one).toMatchObject(size);
      expect(one!.faces.map(({ embedding }) => embedding.values.length)).toEqual([128]);
    }
  });

  test("compare faces with the typed API", async () => {
    const output = await outputOf(commandsUnder("docs/typed-api.md", "Compare faces"));
    const [pair, stored, grpc] = documentsIn(output) as ComparedFaces[];
    expect(pair).toMatchObject({ falseMatchRate: expect.closeTo(0.001), extrapolated: false });
    for (const { matches } of [pair!, stored!, grpc!]) {
      expect(matches).toHaveLength(3);
      // Over gRPC, `buf` leaves out what is false.
      expect(matches.map(({ matched = false }) => matched)).toEqual([true, false, false]);
    }
    expect(stored!.threshold).toBe(0.5);
  });

  test("stream images with the typed API", async () => {
    const output = await outputOf(commandsUnder("docs/typed-api.md", "Streams"));
    const answers = documentsIn(output) as { key: string; response: AnalyzedImage }[];
    const faces = answers.map(({ key, response }) => [key, response.facesFound]);
    const expected = [
      ["one.jpg", 3],
      ["two.jpg", 3],
    ];
    expect(faces.slice(0, 2).toSorted()).toEqual(expected);
    expect(faces.slice(2).toSorted()).toEqual(expected);
  });

  test("enrol, identify and delete a person", async () => {
    const output = await outputOf(commandsUnder("docs/galleries.md", "Use"));
    const [created, enrolled, identified, imported, ...deleted] = documentsIn(output);
    expect(created).toMatchObject({ gallery: { galleryId: "staff" } });
    expect(enrolled).toMatchObject({ revision: "1" });
    const { faces } = identified as { faces: { matches: { personId: string; displayName: string }[] }[] };
    const named = faces.flatMap(({ matches }) => matches);
    expect(named).toMatchObject([{ personId: "17", displayName: "Ann" }]);
    expect(imported).toEqual({ faceCount: 1, revision: "2" });
    expect(deleted).toMatchObject([{ personId: "17", deletions: [{ galleryId: "staff" }] }, {}]);
  });

  test("enrol and identify people on the command line", async () => {
    const people = join(folder, "people");
    mkdirSync(join(people, "Ann Lee"), { recursive: true });
    onTestFinished(() => rmSync(people, { recursive: true }));
    copyFileSync(SAMPLE, join(people, "Ann Lee/photo.jpg"));
    const output = await outputOf(commandsUnder("docs/galleries.md", "Command line"));
    expect(output).toContain("team: 1 face enrolled, 0 enrolled before, 0 photos failed\n");
    expect(output.match(/Ann Lee/g)).toHaveLength(2);
    expect(output).toMatch(/Deleted the gallery team with 1 person and 1 face\.\n$/);
    expect(await outputOf(commandsUnder("README.md", "Galleries"))).toContain("Ann Lee");
  });

  test("manage users and plans", async () => {
    const output = await outputOf(commandsUnder("docs/accounts.md", "Manage users and plans"));
    expect(output).toContain("acme");
  });

  test("analyze a photo on the command line", async () => {
    const output = await outputOf(commandsUnder("docs/clients.md", "Command line"));
    expect(output).toMatch(/^match {2}distance 0\./);
    expect(existsSync(join(folder, "faces.png"))).toBe(true);
    for (const name of ["faces.jsonl", "results.jsonl"])
      expect(readFileSync(join(folder, name), "utf8").split("\n")).toHaveLength(4);
  });
});
