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
/** The beginning of a text, which holds any leading whitespace and all of a data URI before its Base64. */
const HEAD_BYTES = 1024;
/** More than any URL that is fetched. */
const MAX_URL_BYTES = 16 * 1024;

/**
 * Reads an image from text: a URL, a data URI, or Base64, whose plus signs may have become spaces on the way. Text as
 * bytes is UTF-8; it is overwritten, and the image is a view of it.
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
  // No image begins with a plus sign, but one may end with it; a space too many there adds a byte that does no harm.
  const content = await decodeBase64(base64, "plus");
  if (!content) throw new ServiceError("badRequest", "The image is neither Base64, a data URI nor a URL.");
  return imageFromBytes(content);
}

function imageFromUrl(text: Buffer): Image {
  if (text.length > MAX_URL_BYTES) throw new ServiceError("badRequest", "The image URL is too long.");
  return create(ImageSchema, { source: { case: "url", value: text.toString().trim() } });
}

/** An image as its bytes. */
export function imageFromBytes(content: Uint8Array): Image {
  return create(ImageSchema, { source: { case: "content", value: content } });
}

/** Reads a box from `x1,y1,x2,y2`; decimals and spaces are welcome. */
export function boxFromText(text: string): BoundingBox {
  const numbers = text.split(",").map((part) => (part.trim() === "" ? Number.NaN : Number(part)));
  const [x1, y1, x2, y2] = numbers.map(Math.round);
  if (numbers.length !== 4 || !numbers.every((value) => Math.abs(value) < 2 ** 31))
    throw new ServiceError("badBox", `The box "${text.slice(0, 60)}" is not x1,y1,x2,y2.`);
  return create(BoundingBoxSchema, { x1: x1!, y1: y1!, x2: x2!, y2: y2! });
}
