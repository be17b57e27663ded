import { create } from "@bufbuild/protobuf";
import {
  type BoundingBox,
  BoundingBoxSchema,
  type Image,
  ImageSchema,
} from "../../gen/ts/face/v1/face_pb.ts";
import { ServiceError } from "./service-error.ts";

const URL_TEXT = /^https?:\/\//i;
const DATA_URI = /^data:[^,]*;base64,/i;
const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}\+*$/;

/** Reads an image from text: a URL, a data URI, or Base64, whose plus signs may have become spaces on the way. */
export function imageFromText(text: string): Image {
  const trimmed = text.trim();
  if (URL_TEXT.test(trimmed)) return create(ImageSchema, { source: { case: "url", value: trimmed } });
  // No image begins with a plus sign, but one may end with it; a space too many there adds a byte that does no harm.
  const base64 = text
    .trimStart()
    .replace(DATA_URI, "")
    .replaceAll(/[\r\n\t]/g, "")
    .replaceAll(" ", "+");
  if (!BASE64.test(base64))
    throw new ServiceError("badRequest", "The image is neither Base64, a data URI nor a URL.");
  return imageFromBytes(Buffer.from(base64, "base64"));
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
