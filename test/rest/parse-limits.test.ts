import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import {
  GetFaceVecRequestSchema,
  type GetImageAttrRequest,
  GetImageAttrRequestSchema,
  type Image,
  type MatchFacesRequest,
  MatchFacesRequestSchema,
} from "../../gen/ts/face/v1/face_pb.ts";
import { parseBody } from "../../src/rest/body.ts";
import { parseForm } from "../../src/rest/form.ts";
import { createMessageReader } from "../../src/rest/message-reader.ts";
import { LONG_TEXT_BYTES, MAX_FIELDS, MAX_LIST_VALUES, MAX_TEXT_BYTES } from "../../src/rest/parse-limits.ts";
import { TEXT_PARSERS } from "../../src/service/text-parsers.ts";

const readAttr = createMessageReader(GetImageAttrRequestSchema, TEXT_PARSERS);
const readVec = createMessageReader(GetFaceVecRequestSchema, TEXT_PARSERS);
const readMatch = createMessageReader(MatchFacesRequestSchema, TEXT_PARSERS);

const JSON_TYPE = "application/json";
const FORM_TYPE = "application/x-www-form-urlencoded";

async function countBoxes(body: string, type: string): Promise<number> {
  const message = await readAttr([], await parseBody(Buffer.from(body), type));
  return (message as GetImageAttrRequest).bboxes.length;
}

describe("fields of a form or query", () => {
  test.each([
    ["with names", "a=1&"],
    ["without values", "a&"],
    ["that are empty", "&"],
  ])("are limited %s", async (_, unit) => {
    expect(() => parseForm(unit.repeat(MAX_FIELDS))).not.toThrow();
    expect(() => parseForm(unit.repeat(MAX_FIELDS + 1))).toThrow(/more than 512 fields/);
    const body = Buffer.from(unit.repeat(MAX_FIELDS + 1));
    await expect(parseBody(body, FORM_TYPE)).rejects.toMatchObject({ kind: "badRequest" });
  });
});

describe("parts of a multipart body", () => {
  const delimited = (unit: string, count: number) =>
    Buffer.from(`${`--X\r\n${unit}`.repeat(count)}--X--\r\n`);

  test.each([
    ["with names", 'Content-Disposition: form-data; name="a"\r\n\r\n1\r\n'],
    ["without names", "Content-Disposition: form-data\r\n\r\n1\r\n"],
    ["without headers", "\r\n"],
    ["that are empty", ""],
  ])("are limited %s", async (_, unit) => {
    await expect(parseBody(delimited(unit, MAX_FIELDS), "")).resolves.toBeDefined();
    await expect(parseBody(delimited(unit, MAX_FIELDS + 1), "")).rejects.toMatchObject({
      kind: "badRequest",
      message: "The request has more than 512 parts.",
    });
  });

  test("are limited together with lines that begin like a delimiter", async () => {
    const body = (count: number) => Buffer.from(`--X\r\n\r\n\r\n${"\r\n--Xa".repeat(count)}\r\n--X--\r\n`);
    await expect(parseBody(body(MAX_FIELDS - 1), "")).resolves.toBeDefined();
    await expect(parseBody(body(MAX_FIELDS), "")).rejects.toMatchObject({ kind: "badRequest" });
  });
});

describe("boxes", () => {
  test.each<[string, string, (count: number) => string]>([
    ["in a form", FORM_TYPE, (count) => `bboxes=${Array(count).fill("1,2,3,4").join("&")}`],
    ["in one value of a form", FORM_TYPE, (count) => `bboxes=${Array(count).fill("1,2,3,4").join("%26")}`],
    ["in fields of a form", FORM_TYPE, (count) => Array(count).fill("bboxes=1,2,3,4").join("&")],
    ["in JSON", JSON_TYPE, (count) => JSON.stringify({ bboxes: Array(count).fill("1,2,3,4") })],
    [
      "in one string",
      JSON_TYPE,
      (count) => JSON.stringify({ bboxes: Array(count).fill("1,2,3,4").join("&") }),
    ],
  ])("are limited %s", async (_, type, body) => {
    expect(await countBoxes(body(MAX_LIST_VALUES), type)).toBe(MAX_LIST_VALUES);
    await expect(countBoxes(body(MAX_LIST_VALUES + 1), type)).rejects.toMatchObject({
      kind: "badBox",
      field: "bboxes",
    });
  });

  test("are limited to one for a field that is not repeated", async () => {
    const entries = parseForm("bboxes=1,2,3,4&bboxes=5,6,7,8");
    await expect(readVec(entries, [])).rejects.toMatchObject({ kind: "badBox", field: "bboxes" });
  });
});

describe("text that is not an image", () => {
  const text = (size: number) => " ".repeat(size - 1);
  test.each([
    ["in a form", FORM_TYPE, (size: number) => `quality=${text(size)}1`],
    ["in JSON", JSON_TYPE, (size: number) => `{"quality":"${text(size)}1"}`],
    [
      "in a part",
      "",
      (size: number) =>
        `--X\r\nContent-Disposition: form-data; name="quality"\r\n\r\n${text(size)}1\r\n--X--\r\n`,
    ],
    [
      "in a file",
      "",
      (size: number) =>
        `--X\r\nContent-Disposition: form-data; name=quality; filename=a\r\nContent-Type: a/b\r\n\r\n${text(size)}1\r\n--X--\r\n`,
    ],
  ])("is limited %s", async (_, type, body) => {
    const read = async (size: number) => readVec([], await parseBody(Buffer.from(body(size)), type));
    expect(await read(LONG_TEXT_BYTES + 1)).toMatchObject({ quality: true });
    expect(await read(MAX_TEXT_BYTES)).toMatchObject({ quality: true });
    await expect(read(MAX_TEXT_BYTES + 1)).rejects.toMatchObject({ kind: "badRequest", field: "quality" });
  });
});

describe("two images of 10 MiB", () => {
  const MIB = 1024 * 1024;
  const images = [1, 2].map((seed) => {
    const image = Buffer.alloc(
      10 * MIB,
      Buffer.from(Array.from({ length: 4099 }, (_, i) => (i * i * seed) >>> 3)),
    );
    return { image, base64: image.toString("base64") };
  });
  const [one, other] = images.map(({ base64 }) => base64) as [string, string];
  const inLines = (text: string) => text.replaceAll(/.{76}/g, "$&\r\n");

  test.each<[string, string, () => string]>([
    [
      "percent-encoded in a form",
      FORM_TYPE,
      () => `img_1=${encodeURIComponent(one)}&img_2=${encodeURIComponent(other)}`,
    ],
    ["in a form with + as it is", FORM_TYPE, () => `img_1=${one}&img_2=${other}`],
    [
      "in JSON with line breaks",
      JSON_TYPE,
      () => JSON.stringify({ img_1: inLines(one), img_2: inLines(other) }),
    ],
    [
      "in JSON with escaped slashes",
      JSON_TYPE,
      () => JSON.stringify({ img_1: one, img_2: other }).replaceAll("/", "\\/"),
    ],
    [
      "in JSON as data URI and as message",
      JSON_TYPE,
      () => JSON.stringify({ img_1: `data:image/jpeg;base64,${one}`, img_2: { content: inLines(other) } }),
    ],
    [
      "as text parts",
      "",
      () =>
        `--X\r\nContent-Disposition: form-data; name="img_1"\r\n\r\n${one}\r\n--X\r\nContent-Disposition: form-data; name="img_2"\r\n\r\n${inLines(other)}\r\n--X--\r\n`,
    ],
  ])("fit into 32 MiB %s", async (_, type, build) => {
    const body = Buffer.from(build());
    expect(body.length).toBeLessThan(32 * MIB);
    const message = (await readMatch([], await parseBody(body, type))) as MatchFacesRequest;
    expect(isContent(message.img1, images[0]!.image)).toBe(true);
    expect(isContent(message.img2, images[1]!.image)).toBe(true);
  });

  function isContent(image: Image | undefined, content: Buffer): boolean {
    return image?.source.case === "content" && content.equals(image.source.value);
  }
});

test("long image text is parsed like short text", async () => {
  const path = "x".repeat(LONG_TEXT_BYTES);
  const read = async (body: string, type: string) => readVec([], await parseBody(Buffer.from(body), type));
  const url = { img: { source: { case: "url", value: `http://a/\u00e9%zz%4g%g4 ${path}` } } };
  expect(await read(`img=http://a/%C3%A9%zz%4g%g4+${path}`, FORM_TYPE)).toMatchObject(url);
  expect(await read(`{"img":" http:\\/\\/a/\\u00e9%zz%4g%g4 ${path} "}`, JSON_TYPE)).toMatchObject(url);
  expect(await read(`{"img":{"url":"http:\\/\\/a/\\u00e9%zz%4g%g4 ${path}"}}`, JSON_TYPE)).toMatchObject(url);
  await expect(read(`{"img":{"content":"${path}~"}}`, JSON_TYPE)).rejects.toMatchObject({
    kind: "badRequest",
  });
  await expect(read(`{"img":{"x":"${path}"}}`, JSON_TYPE)).rejects.toMatchObject({ field: "img" });
  await expect(read(`{"bboxes":{"x1":"${path}"}}`, JSON_TYPE)).rejects.toMatchObject({ kind: "badBox" });
  expect(await read(`{"unknown":"${path}"}`, JSON_TYPE)).toEqual(create(GetFaceVecRequestSchema));
});
