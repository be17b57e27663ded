import type { RestErrorKind } from "./rest-error.ts";

// Limits on the content of request bodies, besides their size. They bound the time of parsing, so that no body blocks
// the event loop.

/** Fields of a form or query, or parts of a multipart body, with or without a name. */
export const MAX_FIELDS = 512;

/** Bytes of a JSON body outside its long strings. */
export const MAX_JSON_BYTES = 64 * 1024;
/** Nesting of objects and lists in a JSON body. */
export const MAX_JSON_DEPTH = 16;
/** Values in a JSON body: objects, lists, strings, numbers and literals at any depth. */
export const MAX_JSON_VALUES = 4096;

/** Longer text is parsed as bytes. Only images may be that long. */
export const LONG_TEXT_BYTES = 1024;
/** Bytes of text that is not an image. */
export const MAX_TEXT_BYTES = 64 * 1024;

/** Fields of a Protobuf message, known and unknown, at any depth. */
export const MAX_PROTOBUF_FIELDS = 4096;

/** Values of a repeated field. */
export const MAX_LIST_VALUES = 256;

/** Error kinds that are more specific than `badRequest`, by the message type of the field at fault. */
export const FIELD_ERRORS: Readonly<Record<string, RestErrorKind>> = {
  "face.v1.BoundingBox": "badBox",
  "visage.v1.BoundingBox": "badBox",
};
