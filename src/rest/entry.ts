import type { JsonValue } from "@bufbuild/protobuf";
import type { PartialJson } from "./json-message.ts";
import type { TextBytes } from "./text-bytes.ts";

/** The value of an entry: short text is a JSON string, long text TextBytes, and a file its bytes. */
export type EntryValue = JsonValue | Uint8Array | TextBytes | PartialJson;

/** One named value of a request as it was given, before it is known what the name means. */
export interface Entry {
  readonly name: string;
  /** Nothing where a key stood alone, without `=`. */
  readonly value: EntryValue | undefined;
}
