import { type MessageJson, printfFormat } from "./message-json.ts";
import { keyVariable, type OperationId, type SampleDestination } from "./sample-request.ts";

/** Quotes a text as one word of a POSIX shell. */
export function shellQuote(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** The header with the key, as one word of a shell. Its name and scheme can be those of the original API. */
export function keyHeader(
  operation: OperationId,
  { key }: SampleDestination,
  prefix = "Authorization: Bearer",
): string {
  return key === undefined ? `"${prefix} $${keyVariable(operation)}"` : shellQuote(`${prefix} ${key}`);
}

/** A command that prints a message as one line of JSON, with photos as Base64. */
export function printMessage(message: MessageJson): string {
  const { format, files } = printfFormat(message);
  const contents = files.map((file) => `"$(base64 < ${shellQuote(file)} | tr -d '\\n')"`);
  return [`printf ${shellQuote(`${format}\\n`)}`, ...contents.map((content) => `  ${content}`)].join(" \\\n");
}

/** Joins the words of a command, one line each after the first. */
export function commandLines(...words: readonly (string | undefined)[]): string {
  return words.filter((word) => word !== undefined).join(" \\\n  ");
}

/** Indents every line. */
export function indent(text: string, spaces = 2): string {
  return text.replaceAll(/^(?=.)/gm, " ".repeat(spaces));
}
