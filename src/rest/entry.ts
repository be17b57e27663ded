import type { JsonValue } from "@bufbuild/protobuf";
import type { PartialJson } from "./json-message.ts";
import type { TextBytes } from "./text-bytes.ts";

/** The value of an entry: short text is a JSON string, long text TextBytes, and a file its bytes. */
export type EntryValue = JsonValue | Uint8Array | TextBytes | PartialJson;

/** A name and value of a query, form, multipart body or JSON object, before the name is matched with a field. */
export interface Entry {
  readonly name: string;
  /** Undefined for a name without `=`. */
  readonly value: EntryValue | undefined;
}
