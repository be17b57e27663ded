import { PhotoError } from "../photos/open-photo.ts";
import { RequestError } from "../site/request-error.ts";
import { ADVICE, TITLES } from "./advice.ts";

/** The codes of faces that are unsuited for recognition but can be enrolled nevertheless. */
const QUALITY_CODES = ["3101", "3102", "3103", "3104"];

/** Whether a photo was rejected for its quality only. */
export function isQualityFailure(error: unknown): boolean {
  return error instanceof RequestError && QUALITY_CODES.includes(error.facts.code ?? "");
}

/** Whether the user cancelled. */
export function isCancelled(error: unknown): boolean {
  return error instanceof RequestError && error.facts.kind === "cancelled";
}

/** Writes an error of a call or of a photo for the user. Throws every other error: it is a defect. */
export function failureText(error: unknown): string {
  if (error instanceof PhotoError) return error.message;
  if (!(error instanceof RequestError)) throw error;
  const { code = "" } = error.facts;
  const advice = ADVICE[code];
  const title = TITLES[code] ?? error.message;
  return advice ? `${title} ${advice}` : title;
}
