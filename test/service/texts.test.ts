import { describe, expect, test } from "vitest";
import { LANDMARK_KEYS } from "../../src/service/landmark-keys.ts";
import { ServiceError } from "../../src/service/service-error.ts";
import { boxFromText, imageFromText } from "../../src/service/texts.ts";

const BYTES = Buffer.from([0x0b, 0xef, 0xbe, 0xff, 0x00, 0x7f, 0x3e, 0x0f, 0xbe]);
const BASE64 = BYTES.toString("base64");

describe("an image in text", () => {
  test.each([
    ["Base64", BASE64],
    ["Base64 whose plus signs became spaces", BASE64.replaceAll("+", " ")],
    ["Base64 in lines", `${BASE64.slice(0, 4)}\r\n${BASE64.slice(4)}\n`],
    ["Base64 for URLs", BYTES.toString("base64url")],
    ["a data URI", `data:image/jpeg;base64,${BASE64}`],
  ])("may be %s", async (_, text) => {
    expect((await imageFromText(text)).source).toEqual({ case: "content", value: BYTES });
  });

  test.each(["http://example.org/a.jpg", " https://example.org/a.jpg?b=c "])(
    "may be the URL %s",
    async (text) => {
      expect((await imageFromText(text)).source).toEqual({ case: "url", value: text.trim() });
    },
  );

  test.each(["ftp://example.org/a.jpg", "what?", "{}"])("is refused as '%s'", async (text) => {
    await expect(imageFromText(text)).rejects.toThrow(ServiceError);
  });
});

describe("a box in text", () => {
  test.each([
    ["1,2,3,4", [1, 2, 3, 4]],
    [" 1.4 , 2.6,3e1, -4", [1, 3, 30, -4]],
  ])("may be '%s'", (text, [x1, y1, x2, y2]) => {
    expect(boxFromText(text)).toMatchObject({ x1, y1, x2, y2 });
  });

  test.each(["", "1,2,3", "1,2,3,4,5", "1,2,three,4", "1,,3,4", "1,2,3,1e12", "NaN,1,2,3"])(
    "is refused as '%s'",
    (text) => {
      expect(() => boxFromText(text)).toThrow(ServiceError);
    },
  );
});

test("the 68 landmark keys are the spec's, each once", () => {
  expect(LANDMARK_KEYS).toHaveLength(68);
  expect(new Set(LANDMARK_KEYS).size).toBe(68);
  // Numbers of some keys as the spec lists them (2.6).
  for (const [key, number] of [
    ["chin", 8],
    ["face_endpoint_16", 16],
    ["rightEyebrowLeftCorner", 22],
    ["noseTip", 33],
    ["leftEyeLeftCorner", 36],
    ["rightEyeTop1", 43],
    ["mouthRight", 54],
    ["LowerLipPoint8", 59],
    ["underLipPoint7", 61],
    ["LowerLipPoint3", 67],
  ] as const)
    expect(LANDMARK_KEYS.indexOf(key)).toBe(number);
});
