import { describe, expect, test } from "vitest";
import { ServiceError } from "../../src/service/service-error.ts";
import { TEXT_PARSERS } from "../../src/service/text-parsers.ts";

const { fromText: imageFromText } = TEXT_PARSERS["face.v1.Image"];
const { fromText: boxFromText } = TEXT_PARSERS["face.v1.BoundingBox"];
const { fromText: typedBoxFromText } = TEXT_PARSERS["visage.v1.BoundingBox"];

const BYTES = Buffer.from([0x0b, 0xef, 0xbe, 0xff, 0x00, 0x7f, 0x3e, 0x0f, 0xbe]);
const BASE64 = BYTES.toString("base64");

describe("an image in a text", () => {
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

  test.each(["ftp://example.org/a.jpg", "what?", "{}"])("is rejected: '%s'", async (text) => {
    await expect(imageFromText(text)).rejects.toThrow(ServiceError);
  });
});

describe("a bounding box in a text", () => {
  test.each([
    ["1,2,3,4", [1, 2, 3, 4]],
    [" 1.4 , 2.6,3e1, -4", [1, 3, 30, -4]],
  ])("may be '%s'", (text, [x1, y1, x2, y2]) => {
    expect(boxFromText(text)).toMatchObject({ x1, y1, x2, y2 });
  });

  test("keeps its decimals in the typed API", () => {
    expect(typedBoxFromText("1.5,2,3.25,4")).toMatchObject({ x1: 1.5, y1: 2, x2: 3.25, y2: 4 });
  });

  test.each(["", "1,2,3", "1,2,3,4,5", "1,2,three,4", "1,,3,4", "1,2,3,1e12", "NaN,1,2,3"])(
    "is rejected: '%s'",
    (text) => {
      expect(() => boxFromText(text)).toThrow(ServiceError);
    },
  );
});
