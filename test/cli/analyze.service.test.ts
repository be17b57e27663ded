import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AnalysisReport } from "../../src/cli/analysis-report.ts";
import type { Environment } from "../../src/config.ts";
import { AGE_RANGES, type Box } from "../../src/core/index.ts";
import type { Pixels } from "../../src/core/types.ts";
import { type CommandResult, runInProcess } from "../support/command-line.ts";
import { photograph } from "../support/images.ts";

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

const startFolder = process.cwd();
beforeAll(() => process.chdir(folder));
afterAll(async () => {
  process.chdir(startFolder);
  await rm(folder, { recursive: true });
});

/** Runs a command in the folder of test photos. */
function visage(args: readonly string[], env: Environment = {}): Promise<CommandResult> {
  return runInProcess(args, env);
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
    let outcome: CommandResult;
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

  it("reports a missing network", async () => {
    const { code, stdout, stderr } = await visage(["analyze", "three.jpg"], { VISAGE_MODELS_DIR: "nowhere" });
    expect(stderr).toMatch(/^visage: There is no network at .*nowhere.*\.onnx\.\n$/);
    expect([code, stdout]).toEqual([1, ""]);
  });
});
