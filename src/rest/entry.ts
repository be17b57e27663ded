import type { JsonValue } from "@bufbuild/protobuf";

/** One named value of a request as it was given, before it is known what the name means. */
export interface Entry {
  readonly name: string;
  /** Text is a JSON string, a file its bytes; nothing where a key stood alone, without `=`. */
  readonly value: JsonValue | Uint8Array | undefined;
}
