import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AnalysisReport } from "../../src/cli/analysis-report.ts";
import { drawFaces } from "../../src/cli/draw-faces.ts";
import { AGE_RANGES, type Box, type Face, type Point } from "../../src/core/index.ts";
import type { Pixels } from "../../src/core/types.ts";
import { PACKAGE_ROOT } from "../../src/model-manifest.ts";
import { photograph } from "../support/images.ts";

const CLI = join(PACKAGE_ROOT, "dist/src/cli/main.js");
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
});

afterAll(() => rm(folder, { recursive: true }));

interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the compiled command line in the folder of test photos. */
function visage(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Outcome> {
  return new Promise((resolve) => {
    const options = { cwd: folder, env: { ...process.env, ...env } };
    const child = execFile(process.execPath, [CLI, ...args], options, (_error, stdout, stderr) =>
      resolve({ code: child.exitCode, stdout, stderr }),
    );
  });
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
    let outcome: Outcome;

    beforeAll(async () => {
      const bad = ["none.jpg", "folder.jpg", "photo.gif", "cut.jpg", "empty.jpg"];
      outcome = await visage(["analyze", "four.jpg", ...bad, "three.jpg", "blank.png"]);
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
        expect(columns).toMatch(/^ +# +rectangle +score +age +gender +yaw +pitch +roll +light$/);
        expect(rows).toHaveLength(faces);
        rows.forEach((row, i) => {
          expect(row).toMatch(
            /^ +\d \s+\d+,\d+,\d+,\d+ \s+0\.\d\d {2}\d+-\d+ +(fe)?male \d+%( +-?\d+){3} +\d+$/,
          );
          expect(row).toHaveLength(columns!.length);
          expect(row.trim()).toMatch(new RegExp(`^${i + 1} `));
        });
      }
    });

    it("reports each invalid file in one line and fails", () => {
      expect(outcome.stderr.split("\n")).toEqual([
        "visage: none.jpg: no such file or directory",
        "visage: folder.jpg: is a folder",
        "visage: photo.gif: The image is neither a JPEG nor a PNG.",
        "visage: cut.jpg: The image is damaged or incomplete and cannot be read.",
        "visage: empty.jpg: The image is empty.",
        "",
      ]);
      expect(outcome.code).toBe(1);
    });
  });

  describe("with --json, --vectors and --draw", () => {
    let outcome: Outcome;
    let report: AnalysisReport;
    let before: Pixels;
    let after: Pixels;

    beforeAll(async () => {
      outcome = await visage(["analyze", "three.jpg", "--json", "--vectors", "--draw", "three.png"]);
      [report] = JSON.parse(outcome.stdout);
      before = await readPixels(photograph(1));
      after = await readPixels(await readFile(join(folder, "three.png")));
    });

    it("prints an array for a single photo", () => {
      expect(outcome).toMatchObject({ code: 0, stderr: "" });
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
      expect(report.faces).toEqual(
        Array(3).fill({
          box: { x1: number, y1: number, x2: number, y2: number },
          score: number,
          presence: number,
          prominence: number,
          landmarks: Array(68).fill(point),
          pose: { yawDegrees: number, pitchDegrees: number, rollDegrees: number },
          light: number,
          age: expect.toBeOneOf([...AGE_RANGES]),
          gender: expect.toBeOneOf(["male", "female"]),
          genderConfidence: number,
          vector: Array(128).fill(number),
        }),
      );
      for (const { box, landmarks, vector } of report.faces) {
        const places = [...Object.values(box), ...landmarks.flatMap(({ x, y }) => [x, y])];
        expect(places.every(Number.isInteger)).toBe(true);
        expect(Math.hypot(...vector!)).toBeCloseTo(0.45);
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

  it("prints an entry without vectors for each readable photo, and draws the upright photo", async () => {
    const turned = sharp(photograph(1)).resize(480).rotate(90).withMetadata({ orientation: 8 });
    await writeFile(join(folder, "turned.jpg"), await turned.jpeg().toBuffer());
    const [many, one] = await Promise.all([
      visage(["analyze", "--json", "blank.png", "none.jpg", "turned.jpg"]),
      visage(["analyze", "turned.jpg", "--draw", "turned.png"]),
    ]);

    expect(many.code).toBe(1);
    expect(many.stderr).toBe("visage: none.jpg: no such file or directory\n");
    const reports: AnalysisReport[] = JSON.parse(many.stdout);
    expect(reports.map(({ file, faces }) => [file, faces.length])).toEqual([
      ["blank.png", 0],
      ["turned.jpg", 3],
    ]);
    expect(reports[1]!.faces.filter((face) => "vector" in face)).toEqual([]);

    expect(one).toMatchObject({ code: 0, stderr: "" });
    const drawn = await readPixels(await readFile(join(folder, "turned.png")));
    expect([drawn.width, drawn.height]).toEqual([480, 320]);
    const { x1, y1, y2 } = reports[1]!.faces[0]!.box;
    expect(colourAt(drawn, x1, Math.round(0.1 * y2 + 0.9 * y1))).toEqual(BOX_COLOUR);
  });

  it("reports an output file that cannot be written", async () => {
    const { code, stdout, stderr } = await visage(["analyze", "blank.png", "--draw", "none/out.png"]);
    expect(stdout).toBe("blank.png  60 x 40  no face found\n");
    expect(stderr).toBe("visage: none/out.png: no such file or directory\n");
    expect(code).toBe(1);
  });

  it("reports a missing network", async () => {
    const { code, stdout, stderr } = await visage(["analyze", "three.jpg"], { VISAGE_MODELS_DIR: "nowhere" });
    expect(stderr).toMatch(/^visage: There is no network at .*nowhere.*\.onnx\.\n$/);
    expect([code, stdout]).toEqual([1, ""]);
  });
});

describe("visage", () => {
  it.concurrent.each([
    [["--help"], /^Usage: visage COMMAND\n[\s\S]*\n {2}analyze +find[\s\S]*/],
    [["-h"], /^Usage: visage COMMAND/],
    [["analyze", "--help"], /^Usage: visage analyze PHOTO\.\.\. \[--json\]/],
    [["--version"], /^\d+\.\d+\.\d+\n$/],
  ])("%j prints to stdout", async (args, output) => {
    const { code, stdout, stderr } = await visage(args);
    expect(stdout).toMatch(output);
    expect([code, stderr]).toEqual([0, ""]);
  });

  it.concurrent.each([
    [[], `The command is missing; see "visage --help"`],
    [["paint"], `Unknown command 'paint'; see "visage --help"`],
    [["constructor"], `Unknown command 'constructor'; see "visage --help"`],
    [["--paint"], `Unknown option '--paint'; see "visage --help"`],
    [["analyze"], `The argument PHOTO is missing; see "visage analyze --help"`],
    [["analyze", "a.jpg", "--paint"], `Unknown option '--paint'; see "visage analyze --help"`],
    [["analyze", "a.jpg", "--draw"], `Option '--draw <value>' argument missing; see "visage analyze --help"`],
    [
      ["analyze", "a.jpg", "--draw", "--json"],
      `Option '--draw' argument is ambiguous; see "visage analyze --help"`,
    ],
    [
      ["analyze", "a.jpg", "b.jpg", "--draw", "out.png"],
      `Option '--draw' accepts a single photo only; see "visage analyze --help"`,
    ],
    [
      ["analyze", "a.jpg", "--draw", "out.jpg"],
      `Option '--draw' requires a file name that ends in .png; see "visage analyze --help"`,
    ],
    [
      ["analyze", "blank.png", "--draw", "./blank.png"],
      `Option '--draw' would overwrite the photo; see "visage analyze --help"`,
    ],
    [["analyze", "a.jpg", "--vectors"], `Option '--vectors' requires '--json'; see "visage analyze --help"`],
  ])("%j is rejected with a one-line error", async (args, reason) => {
    expect(await visage(args)).toEqual({ code: 1, stdout: "", stderr: `visage: ${reason}\n` });
  });

  it("exits silently when its output is closed", async () => {
    const child = spawn(process.execPath, [CLI, "--help"], { stdio: ["ignore", "pipe", "pipe"] });
    child.stdout.destroy();
    const [[code], errors] = await Promise.all([once(child, "close"), child.stderr.toArray()]);
    expect([code, errors.join("")]).toEqual([0, ""]);
  });
});

describe("drawFaces", () => {
  const SIDE = 300;
  const black = { width: SIDE, height: SIDE, data: new Uint8Array(3 * SIDE * SIDE) };

  /** Creates a face of 40 pixels without landmarks, so that only its label is white. */
  const createFace = (x: number, y: number, attributes: Partial<Face> = {}): Face => ({
    box: { x1: Math.max(0, x), y1: Math.max(0, y), x2: Math.min(SIDE, x + 40), y2: Math.min(SIDE, y + 40) },
    presence: 1,
    pose: { yawDegrees: 0, pitchDegrees: 0, rollDegrees: 0 },
    light: 128,
    age: "20-40",
    gender: "female",
    genderConfidence: 0.9,
    landmarks: [],
    ...attributes,
  });

  /** Returns the pixels of the label text. */
  const findTextPixels = (faces: readonly Face[], photo = black): Point[] => {
    const { data } = drawFaces(photo, faces);
    const ink: Point[] = [];
    for (let at = 0; at < data.length; at += 3)
      if (data[at] === 255 && data[at + 1] === 255 && data[at + 2] === 255)
        ink.push({ x: (at / 3) % photo.width, y: Math.floor(at / 3 / photo.width) });
    return ink;
  };

  it("does not modify its input", () => {
    drawFaces(black, [createFace(100, 100)]);
    expect(black.data.every((value) => value === 0)).toBe(true);
  });

  it("writes the label above the face", () => {
    const ys = findTextPixels([createFace(100, 100)]).map(({ y }) => y);
    expect(Math.max(...ys)).toBeLessThan(100);
    expect(Math.min(...ys)).toBeGreaterThan(70);
  });

  it.each([
    [0, 0],
    [260, 0],
    [0, 260],
    [260, 260],
    [-20, 130],
    [280, 130],
    [130, -20],
    [130, 280],
  ])("keeps the whole label of a face at %i, %i inside the image and off the face", (x, y) => {
    const face = createFace(x, y);
    const ink = findTextPixels([face]);
    expect(ink.length).toBe(findTextPixels([createFace(100, 100)]).length);
    const { x1, y1, x2, y2 } = face.box;
    expect(ink.filter((at) => at.x >= x1 && at.x < x2 && at.y >= y1 && at.y < y2)).toEqual([]);
  });

  it("separates the labels of neighbouring faces", () => {
    const alone = findTextPixels([createFace(100, 100)]).length;
    // The digits differ slightly in pixels. An overlapped label would lose half of them.
    expect(findTextPixels([createFace(100, 100), createFace(145, 100)]).length).toBeGreaterThan(1.9 * alone);
  });

  it("has a glyph for every label", () => {
    for (const age of AGE_RANGES)
      for (const gender of ["male", "female"] as const)
        for (const genderConfidence of [0.501, 0.67, 0.84, 0.93, 1]) {
          const faces = Array.from({ length: 10 }, () =>
            createFace(100, 100, { age, gender, genderConfidence }),
          );
          expect(() => drawFaces(black, faces)).not.toThrow();
        }
  });

  it.each([
    [250, 7],
    [1920, 28],
  ])("scales the text to an image of %i pixels", (width, letterHeight) => {
    const height = Math.round(width / 1.5);
    const picture = { width, height, data: new Uint8Array(3 * width * height) };
    const box = { x1: width / 2, y1: height / 2, x2: width / 2 + 40, y2: height / 2 + 40 };
    const rows = new Set(findTextPixels([{ ...createFace(0, 0), box }], picture).map(({ y }) => y));
    // Two lines of letters.
    expect(rows.size).toBe(2 * letterHeight);
  });
});
