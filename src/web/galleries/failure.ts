import { PhotoError } from "../photos/open-photo.ts";
import { RequestError } from "../site/request-error.ts";
import { errorText } from "./advice.ts";

/** The start of the codes of faces that are unsuited for recognition but can be enrolled nevertheless. */
const QUALITY_CODES = "31";

/** Whether a photo was rejected for its quality only. */
export function isQualityFailure(error: unknown): boolean {
  return error instanceof RequestError && error.facts.code?.startsWith(QUALITY_CODES) === true;
}

/** Whether the user cancelled. */
export function isCancelled(error: unknown): boolean {
  return error instanceof RequestError && error.facts.kind === "cancelled";
}

/** Writes an error of a call or of a photo for the user. Throws every other error: it is a defect. */
export function failureText(error: unknown): string {
  if (error instanceof PhotoError) return error.message;
  if (!(error instanceof RequestError)) throw error;
  return errorText(error);
}
