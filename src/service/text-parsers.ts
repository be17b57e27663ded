import { create } from "@bufbuild/protobuf";
import {
  type BoundingBox,
  BoundingBoxSchema,
  type Image,
  ImageSchema,
} from "../../gen/ts/face/v1/face_pb.ts";
import { decodeBase64 } from "../bytes/base64.ts";
import { ServiceError } from "./service-error.ts";

const URL_TEXT = /^https?:\/\//i;
const DATA_URI = /^data:[^,]*;base64,/i;
/** Leading whitespace and the header of a data URI must be within this many bytes. */
const HEAD_BYTES = 1024;
const MAX_URL_BYTES = 16 * 1024;

/**
 * Parses an image in a text: a URL, a data URI, or Base64, whose plus signs may have become spaces in a form. Bytes are
 * UTF-8; they are overwritten, and the image is a view of them. Throws ServiceError `badRequest`.
 */
export async function imageFromText(text: string | Uint8Array): Promise<Image> {
  const bytes =
    typeof text === "string" ? Buffer.from(text) : Buffer.from(text.buffer, text.byteOffset, text.length);
  const head = bytes.toString("utf8", 0, HEAD_BYTES);
  const start = head.trimStart();
  if (URL_TEXT.test(start)) return imageFromUrl(bytes);
  const [prefix = ""] = DATA_URI.exec(start) ?? [];
  const base64 = bytes.subarray(
    Buffer.byteLength(head) - Buffer.byteLength(start) + Buffer.byteLength(prefix),
  );
  // Leading spaces were removed, since no image starts with a plus sign. Trailing spaces count as plus signs and may
  // add a few bytes, which decoders ignore.
  const content = await decodeBase64(base64, "plus");
  if (!content) throw new ServiceError("badRequest", "The image is neither Base64, a data URI nor a URL.");
  return imageFromBytes(content);
}

function imageFromUrl(text: Buffer): Image {
  if (text.length > MAX_URL_BYTES) throw new ServiceError("badRequest", "The image URL is too long.");
  return create(ImageSchema, { source: { case: "url", value: text.toString().trim() } });
}

/** Creates an image from its bytes. */
export function imageFromBytes(content: Uint8Array): Image {
  return create(ImageSchema, { source: { case: "content", value: content } });
}

/** Parses a bounding box `x1,y1,x2,y2`; decimals and spaces are allowed. Throws ServiceError `badBox`. */
export function boxFromText(text: string): BoundingBox {
  const numbers = text.split(",").map((part) => (part.trim() === "" ? Number.NaN : Number(part)));
  const [x1, y1, x2, y2] = numbers.map(Math.round);
  if (numbers.length !== 4 || !numbers.every((value) => Math.abs(value) < 2 ** 31))
    throw new ServiceError("badBox", `The box "${text.slice(0, 60)}" is not x1,y1,x2,y2.`);
  return create(BoundingBoxSchema, { x1: x1!, y1: y1!, x2: x2!, y2: y2! });
}
