import { create } from "@bufbuild/protobuf";
import { BoundingBoxSchema, ImageSchema } from "../../gen/ts/face/v1/face_pb.ts";
import {
  FaceSourceSchema,
  BoundingBoxSchema as TypedBoxSchema,
  ImageSchema as TypedImageSchema,
} from "../../gen/ts/visage/v1/face_analysis_pb.ts";
import { decodeBase64 } from "../bytes/base64.ts";
import { ServiceError } from "./service-error.ts";

const URL_TEXT = /^https?:\/\//i;
const DATA_URI = /^data:[^,]*;base64,/i;
/** Leading whitespace and the header of a data URI must be within this many bytes. */
const HEAD_BYTES = 1024;
const MAX_URL_BYTES = 16 * 1024;

/** The image of a request. */
type ImageContent =
  | { readonly case: "content"; readonly value: Uint8Array }
  | { readonly case: "url"; readonly value: string };

const contentFromBytes = (value: Uint8Array): ImageContent => ({ case: "content", value });

/** The parsers of text and files, by the full name of their message type. They throw ServiceError. */
export const TEXT_PARSERS = {
  "face.v1.Image": fileParser((source) => create(ImageSchema, { source })),
  "face.v1.BoundingBox": {
    fromText(text: string) {
      const [x1, y1, x2, y2] = numbersFromText(text).map(Math.round) as BoxNumbers;
      return create(BoundingBoxSchema, { x1, y1, x2, y2 });
    },
  },
  "visage.v1.Image": fileParser((source) => create(TypedImageSchema, { source })),
  "visage.v1.FaceSource": fileParser((source) =>
    create(FaceSourceSchema, { source: { case: "image", value: create(TypedImageSchema, { source }) } }),
  ),
  "visage.v1.BoundingBox": {
    fromText(text: string) {
      const [x1, y1, x2, y2] = numbersFromText(text);
      return create(TypedBoxSchema, { x1, y1, x2, y2 });
    },
  },
};

/** Creates the parser of a message that holds an image. */
function fileParser<T>(createMessage: (content: ImageContent) => T) {
  return {
    fromText: async (text: string | Uint8Array) => createMessage(await contentFromText(text)),
    fromBytes: (bytes: Uint8Array) => createMessage(contentFromBytes(bytes)),
  };
}

/**
 * Parses an image in a text: a URL, a data URI, or Base64, whose plus signs may have become spaces in a form. Bytes are
 * UTF-8; they are overwritten, and the image is a view of them. Throws ServiceError `badRequest`.
 */
async function contentFromText(text: string | Uint8Array): Promise<ImageContent> {
  const bytes =
    typeof text === "string" ? Buffer.from(text) : Buffer.from(text.buffer, text.byteOffset, text.length);
  const head = bytes.toString("utf8", 0, HEAD_BYTES);
  const start = head.trimStart();
  if (URL_TEXT.test(start)) return contentFromUrl(bytes);
  const [prefix = ""] = DATA_URI.exec(start) ?? [];
  const base64 = bytes.subarray(
    Buffer.byteLength(head) - Buffer.byteLength(start) + Buffer.byteLength(prefix),
  );
  // Leading spaces were removed, since no image starts with a plus sign. Trailing spaces count as plus signs and may
  // add a few bytes, which decoders ignore.
  const content = await decodeBase64(base64, "plus");
  if (!content) throw new ServiceError("badRequest", "The image is neither Base64, a data URI nor a URL.");
  return contentFromBytes(content);
}

function contentFromUrl(text: Buffer): ImageContent {
  if (text.length > MAX_URL_BYTES) throw new ServiceError("badRequest", "The image URL is too long.");
  return { case: "url", value: text.toString().trim() };
}

type BoxNumbers = [x1: number, y1: number, x2: number, y2: number];

/** Parses a bounding box `x1,y1,x2,y2`; decimals and spaces are allowed. Throws ServiceError `badBox`. */
function numbersFromText(text: string): BoxNumbers {
  const numbers = text.split(",").map((part) => (part.trim() === "" ? Number.NaN : Number(part)));
  if (numbers.length !== 4 || !numbers.every((value) => Math.abs(value) < 2 ** 31))
    throw new ServiceError("badBox", `The box "${text.slice(0, 60)}" is not x1,y1,x2,y2.`);
  return numbers as BoxNumbers;
}
