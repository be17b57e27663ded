import type { DescField, Message } from "@bufbuild/protobuf";

/** Parses the text form of a message type. May throw RestError. */
export interface TextParser {
  /** Takes decoded text that is not blank. In text from a form, a space may stand for a `+`. */
  fromText(text: string): Message;
}

/** Parses files, and text of any length, as a message type. Both methods may throw RestError. */
export interface FileParser {
  /** Takes short text as a string and long text as UTF-8, which it may overwrite. */
  fromText(text: string | Uint8Array): Message | Promise<Message>;
  /** Takes the content of a file. */
  fromBytes(bytes: Uint8Array): Message;
}

/** The parsers by the full name of their message type. */
export type TextParsers = Readonly<Record<string, TextParser | FileParser>>;

/** The parser of a field, if its type has one. */
export type FieldParser = TextParser | FileParser | undefined;

export function parserFor(field: DescField, parsers: TextParsers): FieldParser {
  if (!field.message || field.fieldKind === "map") return undefined;
  return Object.hasOwn(parsers, field.message.typeName) ? parsers[field.message.typeName] : undefined;
}

export function isFileParser(parser: FieldParser): parser is FileParser {
  return parser !== undefined && "fromBytes" in parser;
}
