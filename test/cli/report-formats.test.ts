import { describe, expect, test } from "vitest";
import { drawingPath } from "../../src/cli/photo-analyzer.ts";
import { type FormatName, type PhotoResult, REPORT_FORMATS } from "../../src/cli/report-formats.ts";
import type { Face } from "../../src/core/index.ts";

const FACE: Face = {
  box: { x1: 10.4, y1: 20.6, x2: 30, y2: 40 },
  score: 0.912345,
  presence: 1,
  prominence: 0.1,
  pose: { yawDegrees: -10.55549, pitchDegrees: 2, rollDegrees: 0.5 },
  light: 120.123456,
  age: "20-40",
  ageConfidence: 0.8,
  gender: "female",
  genderConfidence: 0.98765,
  landmarks: [{ x: 1.4, y: 2.6 }],
};
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
  expect(format("csv")).toBe(
    [
      "file,error,width,height,face,x1,y1,x2,y2,score,presence,age,gender,gender_confidence,yaw_degrees,pitch_degrees,roll_degrees,light\n",
      '"a, ""b"".jpg",,100,50,1,10,21,30,40,0.9123,1,20-40,female,0.9877,-10.5555,2,0.5,120.1235\n',
      '"a, ""b"".jpg",,100,50,2,10,21,30,40,,1,20-40,female,0.9877,-10.5555,2,0.5,120.1235\n',
      "broken.jpg,is a folder,,,,,,,,,,,,,,,,\n",
      '"line\nbreak\x1b[2J.png",,7,5,,,,,,,,,,,,,,\n',
    ].join(""),
  );
});

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
