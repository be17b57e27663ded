import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Echo, postTo, startEcho } from "../support/echo-service.ts";
import { bytesOf } from "../support/raw-http.ts";

// Bytes that are not text, contain a line that begins like the delimiter, and end with a line break.
const JPEG = Buffer.from("ffd8ffe0000d0a2d2d0d0a2d2d58590d0a", "hex");
const PNG = Buffer.from("89504e470d0a1a0a000d0a", "hex");
// Contains `+` and `/`, and ends without padding.
const BASE64 = JPEG.subarray(0, 15).toString("base64");
const HEX = JPEG.subarray(0, 15).toString("hex");
const WITH_PLUS = Buffer.from("fbefbefb", "hex");
const URL_TEXT = "http://photos.test/a.jpg?size=1&v=2";
const MULTIPART = "Content-Type: multipart/form-data; boundary=X";
const FORM = "Content-Type: application/x-www-form-urlencoded";
const JSON_TYPE = "Content-Type: application/json";

let echo: Echo;
beforeAll(async () => {
  echo = await startEcho();
});
afterAll(() => echo.close());

const post = (target: string, headers: readonly string[], body: string | Uint8Array) =>
  postTo(echo, target, headers, body);

function part(head: readonly string[], content: string | Uint8Array, boundary = "X"): Buffer {
  return bytesOf(`--${boundary}\r\n`, head.map((line) => `${line}\r\n`).join(""), "\r\n", content, "\r\n");
}

function file(name: string, content: string | Uint8Array): Buffer {
  return part(
    [`Content-Disposition: form-data; name="${name}"; filename="a.jpg"`, "Content-Type: image/jpeg"],
    content,
  );
}

function text(name: string, content: string): Buffer {
  return part([`Content-Disposition: form-data; name="${name}"`], content);
}

const END = "--X--\r\n";
const BOTH = `${JPEG.toString("hex")} ${PNG.toString("hex")}`;

describe("multipart bodies", () => {
  const one = ['Content-Disposition: form-data; name="img_1"; filename="a.jpg"', "Content-Type: image/jpeg"];

  test.each<[string, readonly string[], Buffer]>([
    ["two files of the same name", [MULTIPART], bytesOf(file("img_1", JPEG), file("img_2", PNG), END)],
    ["no content type", [], bytesOf(file("img_1", JPEG), file("img_2", PNG), END)],
    ["the content type of JSON", [JSON_TYPE], bytesOf(file("img_1", JPEG), file("img_2", PNG), END)],
    ["the content type of a form", [FORM], bytesOf(file("img_1", JPEG), file("img_2", PNG), END)],
    [
      "no boundary",
      ["Content-Type: multipart/form-data"],
      bytesOf(file("img_1", JPEG), file("img_2", PNG), END),
    ],
    ["another boundary", [`${MULTIPART}-other`], bytesOf(file("img_1", JPEG), file("img_2", PNG), END)],
    [
      "a quoted boundary",
      [MULTIPART.replace("X", '"X"')],
      bytesOf(file("img_1", JPEG), file("img_2", PNG), END),
    ],
    ["a preamble", [MULTIPART], bytesOf("hello\r\n", file("img_1", JPEG), file("img_2", PNG), END, "bye")],
    ["no closing delimiter", [MULTIPART], bytesOf(file("img_1", JPEG), file("img_2", PNG).subarray(0, -2))],
    [
      "attachments",
      [MULTIPART],
      bytesOf(
        part(['Content-Disposition: attachment; name="img_1"; filename="a.jpg"'], JPEG),
        part(['content-disposition: attachment; filename="a; name=img_1.jpg"; name="img_2"'], PNG),
        END,
      ),
    ],
    [
      "names without quotes",
      [MULTIPART],
      bytesOf(
        part(["Content-Disposition: form-data; name=img_1; filename=a.jpg"], JPEG),
        part(["Content-Disposition:form-data;name=img_2"], PNG),
        END,
      ),
    ],
    [
      "parts with wrong content types",
      [MULTIPART],
      bytesOf(
        part([one[0]!, "Content-Type: multipart/form-data"], JPEG),
        part(['Content-Disposition: form-data; name="img_2"', "Content-Type: image/jpg"], PNG),
        END,
      ),
    ],
    [
      "bare line feeds",
      [MULTIPART],
      bytesOf(
        "--X\nContent-Disposition: form-data; name=img_1\n\n",
        JPEG,
        "\n--X\nContent-Disposition: form-data; name=img_2\n\n",
        PNG,
        "\n--X--\n",
      ),
    ],
  ])("are read with %s", async (_, headers, body) => {
    expect(await post("/match_faces", headers, body)).toMatchObject({ httpStatus: 200, status: BOTH });
  });

  test("take URL and Base64 as text parts, also beside a file", async () => {
    const texts = bytesOf(text("img_1", URL_TEXT), text("img_2", BASE64), END);
    expect(await post("/match_faces", [MULTIPART], texts)).toMatchObject({ status: `${URL_TEXT} ${HEX}` });
    const mixed = bytesOf(file("img_1", JPEG), text("img_2", URL_TEXT), END);
    const answer = await post("/match_faces", [MULTIPART], mixed);
    expect(answer).toMatchObject({ status: `${JPEG.toString("hex")} ${URL_TEXT}` });
  });

  test("treat text with a file name as text without a content type, and as a file with one", async () => {
    const named = part(['Content-Disposition: form-data; name="img_1"; filename="img_1"'], URL_TEXT);
    const body = bytesOf(named, file("img_2", URL_TEXT), END);
    const hex = Buffer.from(URL_TEXT).toString("hex");
    expect(await post("/match_faces", [MULTIPART], body)).toMatchObject({ status: `${URL_TEXT} ${hex}` });
  });

  test("carry parameters, and an empty file input counts as absent", async () => {
    const empty = part(
      ['Content-Disposition: form-data; name="img_2"; filename=""', "Content-Type: image/png"],
      "",
    );
    const body = bytesOf(
      text("bboxes_1", "1,2,3,4"),
      empty,
      text("face_det", "0"),
      text("unknown", "x"),
      END,
    );
    const answer = await post("/match_faces", [MULTIPART], body);
    expect(answer).toMatchObject({
      status: "none none",
      code: "1,2,3,4 none",
      message: "face_det false detail false",
    });
  });

  test("carry several boxes in several parts", async () => {
    const body = bytesOf(text("bboxes", "1,2,3,4"), text("bboxes", "5,6,7,8"), file("image_attr", PNG), END);
    const answer = await post("/get_image_attr", [MULTIPART], body);
    expect(answer).toMatchObject({ status: PNG.toString("hex"), code: "1,2,3,4 5,6,7,8" });
  });

  test("may be empty", async () => {
    expect(await post("/match_faces", [MULTIPART], END)).toMatchObject({
      httpStatus: 200,
      status: "none none",
    });
  });
});

describe("forms", () => {
  test.each([
    ["percent-encoded", encodeURIComponent(WITH_PLUS.toString("base64"))],
    ["with a literal +", WITH_PLUS.toString("base64")],
  ])("take Base64 %s", async (_, base64) => {
    const answer = await post("/get_face_vec", [FORM], `img=${base64}&quality=1`);
    expect(answer).toMatchObject({ status: WITH_PLUS.toString("hex"), message: "quality true" });
  });

  test.each([[[FORM]], [[JSON_TYPE]], [["Content-Type: text/plain"]], [[]]])(
    "take a URL under %j",
    async (headers) => {
      const body = `img_1=${encodeURIComponent(URL_TEXT)}&img_2=${encodeURIComponent(URL_TEXT)}`;
      expect(await post("/match_faces", headers, body)).toMatchObject({ status: `${URL_TEXT} ${URL_TEXT}` });
    },
  );

  test("take several boxes like the query", async () => {
    expect(await post("/get_image_attr", [FORM], "bboxes=1,2,3,4&5,6,7,8")).toMatchObject({
      code: "1,2,3,4 5,6,7,8",
    });
  });

  test("keep malformed percent-encoding", async () => {
    expect(await post("/get_face_vec", [FORM], "img=http://a/%zz")).toMatchObject({ status: "http://a/%zz" });
  });
});

describe("JSON bodies", () => {
  test.each([[[JSON_TYPE]], [["Content-Type: text/plain"]], [[FORM]], [[MULTIPART]], [[]]])(
    "are read under %j",
    async (headers) => {
      const body = `\uFEFF ${JSON.stringify({ img_1: URL_TEXT, img_2: BASE64, face_det: null, extra: [1] })}`;
      const answer = await post("/match_faces", headers, body);
      expect(answer).toMatchObject({
        status: `${URL_TEXT} ${HEX}`,
        message: "face_det undefined detail false",
      });
    },
  );

  test.each([
    ["strings", ["1,2,3,4", "5,6,7,8"], "1,2,3,4 5,6,7,8"],
    ["one string of two", "1,2,3,4&5,6,7,8", "1,2,3,4 5,6,7,8"],
    ["numbers", [1, 2, 3, 4], "1,2,3,4"],
    [
      "lists of numbers",
      [
        [1, 2, 3, 4],
        [5, 6, 7, 8],
      ],
      "1,2,3,4 5,6,7,8",
    ],
    ["objects", [{ x1: 1, y1: 2, x2: 3, y2: 4 }], "1,2,3,4"],
    ["an empty list", [], ""],
    ["blank text", "", ""],
  ])("take boxes as %s", async (_, bboxes, code) => {
    expect(await post("/get_image_attr", [JSON_TYPE], JSON.stringify({ bboxes }))).toMatchObject({ code });
  });

  test.each([
    [true, true],
    [1, true],
    ["1", true],
    ["true", true],
    [false, false],
    [0, false],
    ["0", false],
    ["false", false],
    ["", undefined],
    [null, undefined],
  ])("take %j as a bool", async (face_det, meaning) => {
    const answer = await post("/match_faces", [JSON_TYPE], JSON.stringify({ face_det }));
    expect(answer).toMatchObject({ message: `face_det ${meaning} detail false` });
  });

  test.each([
    ["broken", '{"img": "http://secret', undefined],
    ["a list", "[1]", undefined],
    ["a string", '"x"', undefined],
    ["not JSON", "hello", undefined],
    ["with a number for an image", '{"img": 5}', "img"],
    ["with a list for an image", '{"img": ["http://a"]}', "img"],
    ["with text that is not an image", '{"img": "a,b"}', "img"],
    ["with an unclear bool", '{"quality": "maybe"}', "quality"],
    ["with a number that is not a bool", '{"quality": 2}', "quality"],
  ])("are rejected when %s", async (_, body, field) => {
    const answer = await post("/get_face_vec", [JSON_TYPE], body);
    const reason = field === "bboxes" ? "BAD_BOX" : "BAD_REQUEST";
    expect(answer).toMatchObject({ httpStatus: 400, reason, field: field ?? null });
    expect(answer.message).toMatch(/^[^\n]*\.$/);
    expect(answer.message).toContain(field ?? "JSON");
    expect(answer.message).not.toContain("secret");
  });

  test("are rejected with a list of boxes where one is expected", async () => {
    const answer = await post("/get_face_vec", [JSON_TYPE], '{"bboxes": ["1,2,3,4"]}');
    expect(answer).toMatchObject({ httpStatus: 400, reason: "BAD_BOX", field: "bboxes" });
  });

  test("do not set prototypes", async () => {
    const body = '{"__proto__": {"img": "http://a"}, "constructor": 1}';
    expect(await post("/get_face_vec", [JSON_TYPE], body)).toMatchObject({ httpStatus: 200, status: "none" });
  });
});

test("an empty body is a message without fields", async () => {
  expect(await post("/get_face_vec", [], "")).toMatchObject({ httpStatus: 200, status: "none" });
});

test.each([
  [
    "the bytes of an image without a form",
    ["Content-Type: image/jpeg"],
    JPEG,
    { httpStatus: 400, reason: "BAD_REQUEST" },
  ],
  [
    "a compressed body",
    [JSON_TYPE, "Content-Encoding: gzip"],
    "{}",
    { httpStatus: 415, reason: "UNSUPPORTED_ENCODING" },
  ],
])("%s is rejected", async (_, headers, body, answer) => {
  expect(await post("/get_face_vec", headers, body)).toMatchObject(answer);
});
