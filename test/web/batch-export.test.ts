import { expect, test } from "vitest";
import { sentSize } from "../../src/web/photos/geometry.ts";
import { batchCsv, batchJson } from "../../src/web/playground/batch/batch-export.ts";
import type { BatchItem } from "../../src/web/playground/batch/batch-item.ts";
import { toOriginal } from "../../src/web/playground/positions.ts";
import type { Analysis } from "../../src/web/playground/responses.ts";
import { writeCsv } from "../../src/web/site/csv.ts";

const ANALYSIS: Analysis = {
  imageSize: { width: 2000, height: 1000 },
  faces: [
    {
      box: { x1: 0, y1: 10, x2: 100.2, y2: 110 },
      detectionScore: 0.9,
      landmarks: [{ x: 50, y: 0 }],
      pose: { yaw: -15, pitch: 0, roll: 0 },
      quality: { size: 100, brightness: 120, issues: [], usable: true, value: 98, components: [] },
      age: { minYears: 20, maxYears: 40, confidence: 0.9 },
      gender: { value: "GENDER_FEMALE", confidence: 0.99 },
    },
  ],
  facesFound: 1,
};

test("CSV quotes commas, quotes and line breaks", () => {
  expect(writeCsv(["a", "b"], [['say "hi", now', "two\nlines"]])).toBe(
    '\ufeffa,b\r\n"say ""hi"", now","two\nlines"\r\n',
  );
});

test.each(["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"])(
  "CSV disarms the formula %j, but keeps negative numbers",
  (text) => {
    const [, row] = writeCsv(["text", "number"], [[text, -1.5]]).split("text,number\r\n");
    expect(row).toMatch(/^"?'/);
    expect(row).toMatch(/,-1\.5\r\n$/);
  },
);

test("CSV has one row for each face, and one for a photo without a face", () => {
  const csv = batchCsv([
    item("=one.jpg", {
      name: "done",
      analysis: { ...ANALYSIS, faces: [...ANALYSIS.faces, ...ANALYSIS.faces] },
    }),
    item("none.jpg", {
      name: "done",
      analysis: { imageSize: { width: 1, height: 1 }, faces: [], facesFound: 0 },
    }),
    item("bad.jpg", {
      name: "failed",
      error: { message: "Broken, sorry.", code: "2003", isRetryable: false },
    }),
    item("later.jpg", { name: "waiting" }),
  ]);
  const [header, ...lines] = csv.trim().split("\r\n");
  expect(header).toMatch(/^file,width,height,faces,error_code,error,face,x1,y1,x2,y2,/);
  const columns = header!.split(",").length;
  expect(lines.map((line) => line.split(",").length - columns)).toEqual([0, 0, 0, 1, 0]);
  expect(lines[0]).toMatch(
    /^'=one\.jpg,2000,1000,2,,,1,0,10,100\.2,110,0\.9,female,0\.99,20-40,0\.9,(.*,)?-15,0,0,120,true/,
  );
  expect(lines[1]).toContain(",2,0,10,100.2");
  expect(lines[2]).toMatch(/^none\.jpg,2000,1000,0,,,,/);
  expect(lines[3]).toMatch(/^bad\.jpg,2000,1000,,2003,"Broken, sorry\.",,/);
  expect(lines[4]).toMatch(/^later\.jpg,2000,1000,,,not analysed,/);
});

test("JSON has the response or the error of each photo", () => {
  const { photos } = JSON.parse(
    batchJson([
      item("one.jpg", { name: "done", analysis: ANALYSIS }),
      item("bad.jpg", { name: "failed", error: { message: "Broken.", code: "2003", isRetryable: false } }),
    ]),
  );
  expect(photos).toEqual([
    { file: "one.jpg", width: 2000, height: 1000, response: ANALYSIS },
    {
      file: "bad.jpg",
      width: 2000,
      height: 1000,
      error: { message: "Broken.", code: "2003", isRetryable: false },
    },
  ]);
});

test("a photo is scaled down to 2048 pixels and to the limit of the service, never up", () => {
  expect(sentSize({ width: 2048, height: 100 })).toEqual({ width: 2048, height: 100 });
  expect(sentSize({ width: 3000, height: 4000 })).toEqual({ width: 1536, height: 2048 });
  expect(sentSize({ width: 100_000, height: 10 })).toEqual({ width: 2048, height: 1 });
  const { width, height } = sentSize({ width: 3000, height: 4000 }, 1_000_000);
  expect(width * height).toBeLessThanOrEqual(1_000_000);
  expect(width * height).toBeGreaterThan(990_000);
});

test("positions are converted to pixels of the original photo", () => {
  const { imageSize, faces } = toOriginal(ANALYSIS, { x: 2, y: 2 });
  expect(imageSize).toEqual({ width: 4000, height: 2000 });
  expect(faces[0]).toMatchObject({
    box: { x1: 0, y1: 20, x2: 200.4, y2: 220 },
    landmarks: [{ x: 100, y: 0 }],
    quality: { size: 200, brightness: 120 },
  });
});

function item(name: string, state: BatchItem["state"]): BatchItem {
  return { file: new File([], name), size: { width: 2000, height: 1000 }, state };
}
