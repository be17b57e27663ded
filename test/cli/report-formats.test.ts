import { describe, expect, test } from "vitest";
import { drawingPath } from "../../src/cli/photo-analyzer.ts";
import { type FormatName, type PhotoResult, REPORT_FORMATS } from "../../src/cli/report-formats.ts";
import { ATTRIBUTES, FACE } from "../support/face.ts";

const { score: _, ...faceWithoutScore } = FACE;

const RESULTS: readonly PhotoResult[] = [
  {
    file: 'a, "b".jpg',
    analysis: { width: 100, height: 50, facesFound: 2, faces: [FACE, faceWithoutScore] },
    model: "model-1",
  },
  { file: "broken.jpg", error: "is a folder" },
  { file: "line\nbreak\x1b[2J.png", analysis: { width: 7, height: 5, facesFound: 0, faces: [] } },
];

function format(name: FormatName, results = RESULTS): string {
  const { start, separator, end, format: formatResult } = REPORT_FORMATS[name];
  return start + results.map((result) => formatResult(result)).join(separator) + end;
}

test("JSON is an array, also without entries", () => {
  expect(JSON.parse(format("json"))).toMatchObject([
    { file: 'a, "b".jpg', width: 100, model: "model-1", faces: [{ box: { x1: 10, y1: 21 } }, {}] },
    { file: "broken.jpg", error: "is a folder" },
    { file: "line\nbreak\x1b[2J.png", faces: [] },
  ]);
  expect(JSON.parse(format("json", []))).toEqual([]);
});

test("JSONL has an entry on each line, the same as JSON", () => {
  const lines = format("jsonl").trimEnd().split("\n");
  expect(lines.map((line) => JSON.parse(line))).toEqual(JSON.parse(format("json")));
});

test("CSV has a row for each face, and one for a photo without", () => {
  const csv = format("csv");
  const [header = "", first = ""] = csv.split("\n");
  expect(header).toMatch(/^file,error,width,height,face,x1,y1,x2,y2,score,presence,/);
  const empty = (cells: number) => ",".repeat(header.split(",").length - cells);
  expect(csv.slice(header.length + 1 + first.length + 1)).toMatch(
    /^"a, ""b"".jpg",,100,50,2,10,21,30,40,,1,/,
  );
  expect(csv).toContain(`\nbroken.jpg,is a folder${empty(2)}\n`);
  expect(csv.endsWith(`\n"line\nbreak\x1b[2J.png",,7,5${empty(4)}\n`)).toBe(true);
  const cells = first.replace('"a, ""b"".jpg"', "a.jpg").split(",");
  expect(Object.fromEntries(header.split(",").map((name, i) => [name, cells[i]]))).toMatchObject({
    ...{ file: "a.jpg", error: "", width: "100", height: "50", face: "1" },
    ...{ x1: "10", y1: "21", x2: "30", y2: "40", score: "0.9123", presence: "1" },
    ...{ age: "20-40", gender: "female", gender_confidence: "0.9877" },
    ...{ yaw_degrees: "-10.5555", pitch_degrees: "2", roll_degrees: "0.5", light: "120.1235" },
  });
});

test.each(Object.entries(ATTRIBUTES).filter(([name]) => name !== "ageConfidence"))(
  "tables and CSV show the attribute %s",
  (name, value) => {
    const other = { string: "another", number: Number(value) / 2, boolean: !value }[typeof value as string];
    const changed = { ...FACE, [name]: other };
    const show = (formatName: FormatName, face: typeof FACE) =>
      format(formatName, [
        { file: "a.jpg", analysis: { width: 9, height: 9, facesFound: 1, faces: [face] } },
      ]);
    for (const formatName of ["text", "csv"] as const)
      expect(show(formatName, changed), formatName).not.toBe(show(formatName, FACE));
  },
);

test("text shows control characters of a file name as question marks", () => {
  expect(format("text", [RESULTS[2]!])).toBe("line?break?[2J.png  7 x 5  no face found\n");
});

describe("the file of a drawing", () => {
  test.each([
    ["out.png", "a/b.jpg", "out.png"],
    ["out", "b.jpg", "out/b.jpg.png"],
    ["out/", "./a/b.png", "out/a/b.png.png"],
    ["out", "/home/ann/b.jpg", "out/home/ann/b.jpg.png"],
    ["out", "../b.jpg", "out/_/b.jpg.png"],
    ["out", "a/../../../b.jpg", "out/_/_/b.jpg.png"],
  ])("in %s of %s is %s", (draw, file, path) => {
    expect(drawingPath(draw, file)).toBe(path);
  });
});
