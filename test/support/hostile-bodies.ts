import { createRandom } from "../../tools/support/random.ts";

/** A request body of any size, made to be expensive to parse, or a legitimate one to compare it with. */
export interface SampleBody {
  readonly name: string;
  /** The Content-Type to send it with over plain HTTP. */
  readonly contentType: string;
  /** Builds the body: `size` bytes, or a few less. */
  build(size: number): Buffer;
}

/** Legitimate and hostile bodies that one parser has to read. */
export interface SampleBodies {
  readonly legitimate: readonly SampleBody[];
  readonly hostile: readonly SampleBody[];
}

const JSON_TYPE = "application/json";
const FORM_TYPE = "application/x-www-form-urlencoded";
const BOUNDARY = "----VisageFormBoundary";
const MULTIPART_TYPE = `multipart/form-data; boundary=${BOUNDARY}`;

/** Repeats `unit` between a prefix and a suffix as often as it fits into `size` bytes. */
function fill(prefix: string, unit: string | Uint8Array, suffix: string, size: number): Buffer {
  const bytes = Buffer.from(unit as string);
  const count = Math.floor((size - Buffer.byteLength(prefix + suffix)) / bytes.length);
  return Buffer.concat([Buffer.from(prefix), Buffer.alloc(count * bytes.length, bytes), Buffer.from(suffix)]);
}

/** 48 KiB of random bytes. */
const RANDOM_BYTES = (() => {
  const random = createRandom(1);
  return Buffer.from(Array.from({ length: 48 * 1024 }, () => Math.floor(random() * 256)));
})();
const BASE64 = RANDOM_BYTES.toString("base64");

function json(name: string, prefix: string, unit: string, suffix: string): SampleBody {
  return { name, contentType: JSON_TYPE, build: (size) => fill(prefix, unit, suffix, size) };
}

function form(name: string, prefix: string, unit: string, suffix = ""): SampleBody {
  return { name, contentType: FORM_TYPE, build: (size) => fill(prefix, unit, suffix, size) };
}

const FILE_HEAD = [
  `--${BOUNDARY}`,
  'Content-Disposition: form-data; name="img"; filename="a.jpg"',
  "Content-Type: image/jpeg",
  "",
  "",
].join("\r\n");
const TEXT_HEAD = [`--${BOUNDARY}`, 'Content-Disposition: form-data; name="img"', "", ""].join("\r\n");
const CLOSE = `\r\n--${BOUNDARY}--\r\n`;

function multipart(name: string, prefix: string, unit: string | Uint8Array, suffix = CLOSE): SampleBody {
  return { name, contentType: MULTIPART_TYPE, build: (size) => fill(prefix, unit, suffix, size) };
}

/** Bodies in JSON, whose image is a string between `open` and `close`. */
function jsonBodies(open: string, close: string): SampleBodies {
  return {
    legitimate: [
      json("Base64", open, BASE64, close),
      json("Base64 in lines", open, `${BASE64.slice(0, 76)}\\r\\n`, close),
    ],
    hostile: [
      json("empty objects", '{"a":[{}', ",{}", "]}"),
      json("open brackets", "", "[", ""),
      json("open braces", "", '{"a":', ""),
      json("numbers", '{"a":[1', ",1", "]}"),
      json("keys", '{"a":1', ',"a":1', "}"),
      json("keys of the image", '{"a":1', ',"img":""', "}"),
      json("short strings", '{"a":[""', ',""', "]}"),
      json("a long key", '{"', "a", '":1}'),
      json("a long number", '{"a":', "1", "}"),
      json("a long string in a list", '{"a":["', "a", '"]}'),
      json("long strings", '{"a":1', `,"img":"${"a".repeat(2000)}"`, "}"),
      json("escaped quotes", open, '\\"', close),
      json("escaped quotes in an unknown field", '{"a":"', '\\"', '"}'),
      json("escaped slashes", open, "\\/", close),
      json("escaped letters", open, "\\u0041", close),
      json("escaped surrogates", open, "\\ud83d\\ude00", close),
      json("backslashes without an end", open, "\\\\", ""),
      json("escaped line feeds", open, "\\n", close),
      json("spaces in Base64", open, " ", close),
      json("a space after each character", open, "A ", close),
      json("a line break after each character", open, "A\\n", close),
      json("characters outside Base64", open, "A~", close),
      json("one character outside Base64 at the end", open, BASE64, `~${close}`),
      json("padding", open, "=", close),
      json("padding at the end", `${open}AA`, "=", close),
      json("text outside ASCII", open, "\u{1f600}", close),
      json("a data URI that is all prefix", `${open}data:`, "a", close),
      json("a data URI of semicolons", `${open}data:`, ";base64", close),
      json("a long URL", `${open}http://`, "a", close),
      json("a long box", '{"bboxes":"', "1,", '"}'),
      json("many boxes in one string", '{"bboxes":"', "1,2,3,4&", '"}'),
      json("a long flag", '{"quality":"', " ", '"}'),
      json("whitespace only", "", " ", ""),
      json("whitespace before", "", " ", open + close),
      json("whitespace after", open + close, " ", ""),
      json("whitespace inside", '{"img":', "\n", "}"),
      json("one word", "", "a", ""),
    ],
  };
}

/** REST bodies in JSON, for an operation with the image field `img`. */
export const JSON_BODIES = jsonBodies('{"img":"', '"}');

/** Messages in the JSON form of Protobuf, for GetFaceVecRequest. REST takes them too. */
export const JSON_MESSAGES = jsonBodies('{"img":{"content":"', '"}}');

function text(name: string, prefix: string, unit: string, suffix = ""): SampleBody {
  return { name, contentType: "text/plain", build: (size) => fill(prefix, unit, suffix, size) };
}

/** Texts of an image. */
export const IMAGE_TEXTS: SampleBodies = {
  legitimate: [text("Base64", "", BASE64), text("Base64 in lines", "", `${BASE64.slice(0, 76)}\r\n`)],
  hostile: [
    text("spaces", "", " "),
    text("line breaks", "", "\r\n"),
    text("a space after each character", "", "A "),
    text("a line break after each character", "", "A\n"),
    text("three characters in a line", "", "AAA\n"),
    text("characters outside Base64", "", "A~"),
    text("one character outside Base64 at the end", "", BASE64, "~"),
    text("padding", "AA", "="),
    text("spaces after padding", "AA==", " "),
    text("a data URI that is all prefix", "data:", "a"),
    text("a data URI of semicolons", "data:", ";base64"),
    text("a data URI of spaces", "data:;base64,", " "),
    text("a long URL", "http://", "a"),
    text("wide spaces", "", "\u3000"),
  ],
};

/** Bodies that are forms, for an operation with the image field `img`. */
export const FORM_BODIES: SampleBodies = {
  legitimate: [
    form("Base64", "img=", BASE64),
    form("percent-encoded Base64", "img=", encodeURIComponent(BASE64)),
  ],
  hostile: [
    form("ampersands", "", "&"),
    form("names", "", "a&"),
    form("pairs", "", "a=1&"),
    form("pairs of the image", "", "img=&"),
    form("boxes", "bboxes=1,2,3,4", "&1,2,3,4"),
    form("equals signs", "", "="),
    form("plus signs", "img=", "+"),
    form("percent signs", "img=", "%"),
    form("percent-encoded plus signs", "img=", "%2B"),
    form("percent-encoded plus signs in an unknown field", "a=", "%2B"),
    form("percent-encoded percent signs", "img=", "%25"),
    form("malformed percent signs", "img=", "%zz"),
    form("invalid UTF-8", "img=", "%ff"),
    form("percent-encoded line breaks", "img=", "%0A"),
    form("a percent-encoded name", "", "%41", "=1"),
    form("a long name", "", "a", "=1"),
    form("one long word", "", "a"),
    form("a long box", "bboxes=", "1,"),
    form("many boxes in one value", "bboxes=1,2,3,4", "%261,2,3,4"),
    form("a long flag", "quality=", "+"),
    form("a long URL", "img=http://", "a"),
    form("whitespace before", "", " ", "img="),
    form("line feeds before", "", "\n", "img="),
  ],
};

/** Multipart bodies, for an operation with the image field `img`. */
export const MULTIPART_BODIES: SampleBodies = {
  legitimate: [
    multipart("a file", FILE_HEAD, RANDOM_BYTES),
    multipart("Base64 as text", TEXT_HEAD, `${BASE64.slice(0, 76)}\r\n`),
  ],
  hostile: [
    multipart("delimiters", "", `--${BOUNDARY}\r\n`),
    multipart("parts without names", "", `--${BOUNDARY}\r\n\r\n\r\n`),
    multipart("parts with empty names", "", `--${BOUNDARY}\r\nContent-Disposition: form-data\r\n\r\n\r\n`),
    multipart("parts of the image", "", `${TEXT_HEAD}\r\n`),
    multipart("short delimiters", "", "--\r\n", ""),
    multipart("short delimiters after one", "--X\r\n", "\n--X\n", ""),
    multipart("near-delimiters", FILE_HEAD, `\r\n--${BOUNDARY}A`),
    multipart("near-delimiters with long lines", FILE_HEAD, `\r\n--${BOUNDARY}${" ".repeat(190)}A`),
    multipart("beginnings of a delimiter", FILE_HEAD, `\r\n--${BOUNDARY.slice(0, -1)}A`),
    multipart("dashes", FILE_HEAD, "-"),
    multipart(
      "a delimiter of dashes and a body of dashes",
      `--${"-".repeat(190)}X\r\n${"\r\n".padEnd(190, "-").repeat(10)}`,
      "-",
      "",
    ),
    multipart("line breaks", FILE_HEAD, "\r\n"),
    multipart("a part that is all head", `--${BOUNDARY}\r\n`, "A: b\r\n"),
    multipart(
      "heads of parameters",
      "",
      `--${BOUNDARY}\r\nContent-Disposition: form-data${"; a=b".repeat(800)}\r\n\r\n\r\n`,
    ),
    multipart("spaces in Base64", TEXT_HEAD, "A "),
    multipart("text outside Base64", TEXT_HEAD, "A~"),
    multipart("a preamble", "", "a\n", `\n${FILE_HEAD}${CLOSE}`),
    multipart("one line", `--${BOUNDARY}`, "a", ""),
  ],
};

/** A length-delimited field: its tag and length, before its content. */
function lengthDelimited(number: number, length: number): Buffer {
  const bytes = [(number << 3) | 2];
  let rest = length;
  for (; rest > 0x7f; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
  return Buffer.from([...bytes, rest]);
}

function protobuf(name: string, unit: readonly number[], prefix: readonly number[] = []): SampleBody {
  const build = (size: number) =>
    Buffer.concat([Buffer.from(prefix), Buffer.alloc(size - prefix.length, Buffer.from(unit))]);
  return { name, contentType: "application/proto", build };
}

/** Protobuf messages, for GetImageAttrRequest. */
export const PROTOBUF_BODIES: SampleBodies = {
  legitimate: [
    {
      name: "an image",
      contentType: "application/proto",
      build(size) {
        const content = Buffer.alloc(size - 10, RANDOM_BYTES);
        const image = Buffer.concat([lengthDelimited(1, content.length), content]);
        return Buffer.concat([lengthDelimited(1, image.length), image]);
      },
    },
  ],
  hostile: [
    protobuf("empty boxes", [0x12, 0x00]),
    protobuf("boxes", [0x12, 0x02, 0x08, 0x01]),
    protobuf("unknown varints", [0x78, 0x00]),
    protobuf("unknown empty fields", [0x7a, 0x00]),
    protobuf("unknown 32-bit fields", [0x7d, 0, 0, 0, 0]),
    protobuf("unknown groups", [0x7b, 0x7c]),
    protobuf("open groups", [0x7b]),
    protobuf("a group of unknown fields", [0x78, 0x00], [0x7b]),
    protobuf("a varint without an end", [0x80], [0x78]),
    protobuf("a tag without an end", [0x80]),
    protobuf("images", [0x0a, 0x00]),
    protobuf("images with content", [0x0a, 0x02, 0x0a, 0x00]),
    {
      name: "unknown fields in an image",
      contentType: "application/proto",
      build: (size) =>
        Buffer.concat([lengthDelimited(1, size - 5), Buffer.alloc(size - 5, Buffer.from([0x78, 0x00]))]),
    },
    {
      name: "boxes that are one long unknown field",
      contentType: "application/proto",
      build: (size) =>
        Buffer.concat([
          lengthDelimited(2, size - 5),
          Buffer.alloc(size - 5, Buffer.from([0x7a, 0x01, 0x00])),
        ]),
    },
    protobuf("flags", [0x18, 0x01]),
  ],
};
