// Which message of a stream an error is about.
import { createContextKey } from "@connectrpc/connect";
import type { ErrorKind } from "./error-table.ts";
import { ServiceError } from "./service-error.ts";

/** What a message of a stream is: a line over plain HTTP, a message of an RPC. */
export type MessageUnit = "line" | "message";

/** Returns the number of the line that was read last. Set if the messages of a call are lines. */
export const LAST_LINE = createContextKey<(() => number) | undefined>(undefined);

/** The errors that one message causes. All others are about the whole stream. */
const MESSAGE_ERRORS: readonly ErrorKind[] = ["badRequest", "modelMismatch", "requestTooLarge"];

/**
 * Names the message that caused an error, in its text and in its metadata. The first message has the number 1. An error
 * about the whole stream stays the same, and so does one that has a number.
 */
export function withMessageNumber(error: ServiceError, unit: MessageUnit, number: number): ServiceError {
  const hasNumber = "line" in error.metadata || "message" in error.metadata;
  if (hasNumber || !MESSAGE_ERRORS.includes(error.kind)) return error;
  const name = unit === "line" ? "Line" : "Message";
  return changeError(error, `${name} ${number}: ${error.message}`, { [unit]: String(number) });
}

/** Copies an error with another text and additional metadata. */
export function changeError(
  error: ServiceError,
  message: string,
  metadata: Readonly<Record<string, string>>,
): ServiceError {
  const { kind, field, boxField, allow, retryAfterMs } = error;
  const details = { field, boxField, allow, retryAfterMs, cause: error.cause ?? error };
  return new ServiceError(kind, message, { ...details, metadata: { ...error.metadata, ...metadata } });
}
