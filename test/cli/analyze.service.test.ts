import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { AnalysisReport } from "../../src/cli/analysis-report.ts";
import { Interruption } from "../../src/cli/command.ts";
import type { Environment } from "../../src/config.ts";
import type { Pixels } from "../../src/core/geometry.ts";
import {
  AGE_RANGES,
  type Analyzer,
  type AnalyzerOptions,
  type Box,
  DEFAULT_MODELS_DIR,
} from "../../src/core/index.ts";
import { type CommandResult, runInProcess, TextOutput } from "../support/command-line.ts";
import { FACE } from "../support/face.ts";
import { photograph } from "../support/images.ts";

// The networks are loaded once for all tests that run them in this process.
vi.mock(import("../../src/core/index.ts"), async (importOriginal) => {
  const core = await importOriginal();
  let shared: Promise<Analyzer> | undefined;
  const openShared = async (options: AnalyzerOptions = {}): Promise<Analyzer> => {
    if (options.modelsDir !== DEFAULT_MODELS_DIR) return core.openAnalyzer(options);
    shared ??= core.openAnalyzer(options);
    return { ...(await shared), close: async () => {} };
  };
  return { ...core, openAnalyzer: openShared };
});

const BOX_COLOUR = [255, 214, 10];
const LANDMARK_COLOUR = [80, 255, 220];

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "visage-cli-"));
  const three = photograph(1);
  const blank = sharp({ create: { width: 60, height: 40, channels: 3, background: "white" } });
  await mkdir(join(folder, "folder.jpg"));
  await writeFile(join(folder, "three.jpg"), three);
  await writeFile(join(folder, "four.jpg"), photograph(4));
  await writeFile(join(folder, "blank.png"), await blank.png().toBuffer());
  await writeFile(join(folder, "photo.gif"), await blank.gif().toBuffer());
  await writeFile(join(folder, "cut.jpg"), three.subarray(0, 20_000));
  await writeFile(join(folder, "empty.jpg"), "");
  // A sparse file that is larger than any buffer.
  await writeFile(join(folder, "huge.jpg"), "");
  await truncate(join(folder, "huge.jpg"), 2 ** 40);
});

const startFolder = process.cwd();
beforeAll(() => process.chdir(folder));
afterAll(async () => {
  process.chdir(startFolder);
  await rm(folder, { recursive: true });
});

/** Runs a command in the folder of test photos. With one worker, the networks run in this process. */
function visage(args: readonly string[], env: Environment = {}): Promise<CommandResult> {
  return runInProcess(args, { VISAGE_WORKERS: "1", ...env });
}

async function readPixels(image: Uint8Array): Promise<Pixels> {
  const { data, info } = await sharp(image).removeAlpha().raw().toBuffer({ resolveWithObject: true });
  return { width: info.width, height: info.height, data };
}

function colourAt({ width, data }: Pixels, x: number, y: number): number[] {
  return [...data.subarray(3 * (y * width + x), 3 * (y * width + x) + 3)];
}

describe("visage analyze", () => {
  describe("with valid and invalid files", () => {
    let outcome: CommandResult;

    beforeAll(async () => {
      const bad = ["none.jpg", "folder.jpg", "photo.gif", "cut.jpg", "empty.jpg", "huge.jpg"];
      const args = ["analyze", "four.jpg", ...bad, "three.jpg", "blank.png"];
      outcome = await visage(args, { VISAGE_WORKERS: "2" });
    });

    it("prints a heading for each photo and an aligned row for each face", () => {
      const [four, three, blank, ...rest] = outcome.stdout.split("\n\n").map((part) => part.split("\n"));
      expect(rest).toEqual([]);
      expect(four![0]).toBe("four.jpg  1920 x 1448  4 faces");
      expect(three![0]).toBe("three.jpg  1920 x 1280  3 faces");
      expect(blank).toEqual(["blank.png  60 x 40  no face found", ""]);
      for (const [table, faces] of [
        [four!, 4],
        [three!, 3],
      ] as const) {
        const [, columns, ...rows] = table;
        expect(columns).toMatch(/^ +# +rectangle +score +age +gender .*yaw +pitch +roll +light$/);
        expect(rows).toHaveLength(faces);
        rows.forEach((row, i) => {
          expect(row).toMatch(
            /^ +\d \s+\d+,\d+,\d+,\d+ \s+0\.\d\d {2}\d+-\d+ +(fe)?male \d+% .*( +-?\d+){3} +\d+$/,
          );
          expect(row).toHaveLength(columns!.length);
          expect(row.trim()).toMatch(new RegExp(`^${i + 1} `));
        });
      }
    });

    it("reports each invalid file in one line and fails", () => {
      expect(outcome.stderr.split("\n")).toEqual([
        "visage: none.jpg: no such file or directory",
        "visage: folder.jpg: has no photos (.jpg, .jpeg, .png)",
        "visage: photo.gif: The image is neither a JPEG nor a PNG.",
        "visage: cut.jpg: The image is damaged or incomplete and cannot be read.",
        "visage: empty.jpg: The image is empty.",
        "visage: huge.jpg: has 1099511627776 bytes, more than VISAGE_MAX_IMAGE_BYTES allows (10485760)",
        "visage: 6 of 9 photos failed",
        "",
      ]);
      expect(outcome.code).toBe(1);
    });
  });

  describe("with --json, --embeddings and --draw", () => {
    let outcome: CommandResult;
    let report: AnalysisReport;
    let before: Pixels;
    let after: Pixels;

    beforeAll(async () => {
      outcome = await visage(["analyze", "three.jpg", "--json", "--embeddings", "--draw", "three.png"]);
      [report] = JSON.parse(outcome.stdout);
      before = await readPixels(photograph(1));
      after = await readPixels(await readFile(join(folder, "three.png")));
    });

    it("prints an array for a single photo", () => {
      expect(outcome).toMatchObject({ code: 0, stderr: "Wrote three.png\n" });
      expect(JSON.parse(outcome.stdout)).toEqual([
        {
          file: "three.jpg",
          width: 1920,
          height: 1280,
          model: expect.stringMatching(/^sface-\w+$/),
          faces: expect.any(Array),
        },
      ]);
    });

    it("prints all attributes of each face", () => {
      const number = expect.any(Number);
      const point = { x: number, y: number };
      expect(report.faces).toMatchObject(
        Array(3).fill({
          box: { x1: number, y1: number, x2: number, y2: number },
          score: number,
          presence: number,
          prominence: number,
          landmarks: Array(68).fill(point),
          pose: { yawDegrees: number, pitchDegrees: number, rollDegrees: number },
          light: number,
          age: expect.toBeOneOf([...AGE_RANGES]),
          ageConfidence: number,
          gender: expect.toBeOneOf(["male", "female"]),
          genderConfidence: number,
          embedding: Array(128).fill(number),
        }),
      );
      for (const face of report.faces) {
        expect(Object.keys(face).toSorted()).toEqual([...Object.keys(FACE), "embedding"].toSorted());
        const { box, landmarks, embedding } = face;
        const places = [...Object.values(box), ...landmarks.flatMap(({ x, y }) => [x, y])];
        expect(places.every(Number.isInteger)).toBe(true);
        expect(Math.hypot(...embedding!)).toBeCloseTo(0.45);
      }
    });

    it("draws the rectangle of each face", () => {
      expect([after.width, after.height]).toEqual([1920, 1280]);
      for (const { box } of report.faces) {
        const xs = Array.from({ length: box.x2 - box.x1 }, (_, i) => box.x1 + i);
        const ys = Array.from({ length: box.y2 - box.y1 }, (_, i) => box.y1 + i);
        const edges = [
          xs.map((x) => colourAt(after, x, box.y1)),
          xs.map((x) => colourAt(after, x, box.y2 - 1)),
          ys.map((y) => colourAt(after, box.x1, y)),
          ys.map((y) => colourAt(after, box.x2 - 1, y)),
        ];
        for (const edge of edges) {
          // Landmarks cover the rest.
          const framed = edge.filter((colour) => String(colour) === String(BOX_COLOUR));
          expect(framed.length / edge.length).toBeGreaterThan(0.7);
        }
      }
    });

    it("draws the 68 landmarks of each face", () => {
      for (const { landmarks } of report.faces)
        expect(landmarks.map(({ x, y }) => colourAt(after, x, y))).toEqual(Array(68).fill(LANDMARK_COLOUR));
    });

    it("changes only the faces and their labels", () => {
      const LABEL_MARGIN = 250;
      const near = ({ x1, y1, x2, y2 }: Box, x: number, y: number) =>
        x > x1 - LABEL_MARGIN && x < x2 + LABEL_MARGIN && y > y1 - LABEL_MARGIN && y < y2 + LABEL_MARGIN;
      let untouched = 0;
      let changed = 0;
      for (let y = 0; y < 1280; y++)
        for (let x = 0; x < 1920; x++) {
          if (report.faces.some(({ box }) => near(box, x, y))) continue;
          const at = 3 * (y * 1920 + x);
          const same = [0, 1, 2].every((i) => before.data[at + i] === after.data[at + i]);
          if (same) untouched++;
          else changed++;
        }
      expect(changed).toBe(0);
      expect(untouched).toBeGreaterThan(500_000);
    });
  });

  it("prints a JSON array of all photos, and draws each upright in a folder that it creates", async () => {
    const turned = sharp(photograph(1)).resize(480).rotate(90).withMetadata({ orientation: 8 });
    await mkdir("album");
    await writeFile("album/turned.jpg", await turned.jpeg().toBuffer());
    await copyFile("blank.png", "album/blank.png");
    const args = [
      "analyze",
      "--json",
      "album",
      "none.jpg",
      "--draw",
      "album/drawings",
      "--output",
      "new/a.json",
    ];
    expect(await visage(args)).toEqual({
      code: 1,
      stdout: "",
      stderr: [
        "Wrote album/drawings/album/blank.png.png",
        "Wrote album/drawings/album/turned.jpg.png",
        "Wrote new/a.json: 3 photos, 3 faces",
        'visage: 1 of 3 photos failed; "error" in the output has the reasons',
        "",
      ].join("\n"),
    });
    const reports: AnalysisReport[] = JSON.parse(await readFile("new/a.json", "utf8"));
    expect(reports).toMatchObject([
      { file: "album/blank.png", faces: [] },
      { file: "album/turned.jpg", faces: [{}, {}, {}] },
      { file: "none.jpg", error: "no such file or directory" },
    ]);
    expect(reports[1]!.faces.filter((face) => "embedding" in face)).toEqual([]);
    const drawn = await readPixels(await readFile("album/drawings/album/turned.jpg.png"));
    expect([drawn.width, drawn.height]).toEqual([480, 320]);
    const { x1, y1, y2 } = reports[1]!.faces[0]!.box;
    expect(colourAt(drawn, x1, Math.round(0.1 * y2 + 0.9 * y1))).toEqual(BOX_COLOUR);
    // Drawings are not photos.
    expect((await visage(["analyze", "album", "--csv", "--draw", "album/drawings"])).stdout).not.toContain(
      "drawings",
    );
  });

  it("reports a drawing that cannot be written, and prints the result", async () => {
    await writeFile("file", "");
    const { code, stdout, stderr } = await visage(["analyze", "blank.png", "--draw", "file/out.png"]);
    expect(stdout).toBe("blank.png  60 x 40  no face found\n");
    expect(stderr).toMatch(/^visage: file\/out\.png: .+\n$/);
    expect(code).toBe(1);
    expect(await readFile("file", "utf8")).toBe("");
  });

  it("reports an output that cannot be written before it loads the networks", async () => {
    const env = { VISAGE_MODELS_DIR: "nowhere" };
    const { code, stderr } = await visage(["analyze", "blank.png", "--output", "blank.png/out.json"], env);
    expect(stderr).toMatch(/^visage: blank\.png\/out\.json: .+\n$/);
    expect(code).toBe(1);
  });

  it.skipIf(process.platform !== "linux")("reports a full disk", async () => {
    const { code, stderr } = await visage(["analyze", "blank.png", "--output", "/dev/full"]);
    expect([code, stderr]).toEqual([1, "visage: /dev/full: no space left on device\n"]);
  });

  it("reports a missing network", async () => {
    const { code, stdout, stderr } = await visage(["analyze", "three.jpg"], { VISAGE_MODELS_DIR: "nowhere" });
    expect(stderr).toMatch(/^visage: There is no network at .*nowhere.*\.onnx\.\n$/);
    expect([code, stdout]).toEqual([1, ""]);
  });

  it("keeps what is written when it is interrupted", async () => {
    const controller = new AbortController();
    const stdout = new TextOutput();
    // The text after the first entry is written when the second photo is done.
    stdout.on("text", () => {
      if (stdout.text.includes("blank.png")) controller.abort(new Interruption(130));
    });
    const stderr = new TextOutput();
    const interruptSignal = () => controller.signal;
    const context = { stdout, stderr, interruptSignal };
    const args = ["analyze", "--json", "blank.png", "four.jpg", "three.jpg", "four.jpg"];
    const { code } = await runInProcess(args, { VISAGE_WORKERS: "1" }, context);
    expect(code).toBe(130);
    expect(stderr.text).toMatch(/^visage: Interrupted after [1-3] photos\n$/);
    expect(JSON.parse(stdout.text)[0]).toMatchObject({ file: "blank.png", faces: [] });
    expect(JSON.parse(stdout.text).length).toBeLessThan(4);
  });

  it("ends before it starts when it is interrupted during the search", async () => {
    const signal = AbortSignal.abort(new Interruption(143));
    const env = { VISAGE_MODELS_DIR: "nowhere" };
    const outcome = await runInProcess(["analyze", "."], env, { interruptSignal: () => signal });
    expect(outcome).toEqual({ code: 143, stdout: "", stderr: "visage: Interrupted\n" });
  });

  it.each([
    [
      ["four.jpg", "three.jpg", "--draw", "out.png"],
      "Option '--draw' requires a folder for more than one photo",
    ],
    [["one", "--draw", "one/blank.png"], "Option '--draw' would overwrite 'one/blank.png'"],
    [["blank.png", "--draw", "./blank.png"], "Option '--draw' would overwrite './blank.png'"],
    [["one", "--draw", "one"], "Option '--draw' would overwrite 'one'"],
    [["blank.png", "--output", "blank.png"], "Option '--output' would overwrite 'blank.png'"],
    [["a.jpg", "--draw", "out.jpg"], "Option '--draw' requires a folder or a file name that ends in .png"],
    [["a.jpg", "--embeddings"], "Option '--embeddings' requires '--json' or '--jsonl'"],
    [["a.jpg", "--embeddings", "--output", "a.csv"], "Option '--embeddings' requires '--json' or '--jsonl'"],
    [["a.jpg", "--csv", "--jsonl"], "Options '--jsonl' and '--csv' exclude each other"],
  ])("rejects %j", async (args, reason) => {
    await mkdir("one", { recursive: true });
    await copyFile("blank.png", "one/blank.png");
    const before = await readdir(".", { recursive: true });
    expect(await visage(["analyze", ...args])).toEqual({
      code: 2,
      stdout: "",
      stderr: `visage: ${reason}; see "visage analyze --help"\n`,
    });
    expect(await readdir(".", { recursive: true })).toEqual(before);
  });
});

describe("visage match", () => {
  it("compares the first face of two photos, and exits like grep", async () => {
    const same = await visage(["match", "three.jpg", "three.jpg"]);
    expect(same).toMatchObject({ code: 0, stderr: "" });
    expect(same.stdout).toMatch(
      /^match {2}distance 0\.0000\n(?: {2}three\.jpg {2}the first of 3 faces at \d+,\d+,\d+,\d+\n){2}$/,
    );
    const other = await visage(["match", "three.jpg", "four.jpg", "--json"]);
    expect(other).toMatchObject({ code: 1, stderr: "" });
    const box = {
      x1: expect.any(Number),
      y1: expect.any(Number),
      x2: expect.any(Number),
      y2: expect.any(Number),
    };
    expect(JSON.parse(other.stdout)).toEqual({
      match: false,
      distance: expect.closeTo(0.6, 0.1),
      confidence: expect.any(Number),
      model: expect.stringMatching(/^sface-\w+$/),
      photos: [
        { file: "three.jpg", facesFound: 3, box },
        { file: "four.jpg", facesFound: 4, box },
      ],
    });
  });

  it.each([
    [["three.jpg", "none.jpg"], "none.jpg: no such file or directory"],
    [["blank.png", "three.jpg"], "blank.png: No face was found in the image."],
    [["three.jpg"], 'The argument PHOTO is missing; see "visage match --help"'],
    [["a.jpg", "b.jpg", "c.jpg"], `Unexpected argument 'c.jpg'; see "visage match --help"`],
  ])("exits with 2 on an error: %j", async (args, reason) => {
    expect(await visage(["match", ...args])).toEqual({ code: 2, stdout: "", stderr: `visage: ${reason}\n` });
  });
});
