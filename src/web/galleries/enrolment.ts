import { closePhoto } from "../photos/open-photo.ts";
import type { Quality } from "../photos/quality-words.ts";
import { RequestError } from "../site/request-error.ts";
import { readKey } from "../site/session.ts";
import { cropFace } from "./face-crop.ts";
import { type CallOptions, type Enrolment, enrolFace } from "./gallery-api.ts";
import { openSentPhoto } from "./sent-photo.ts";

/** How often a photo is sent again when the service is busy. */
const MAX_RETRIES = 5;
/** Errors that pass by waiting: rate limit, requests in flight, overload. */
const PASSING_CODES = ["4005", "4006", "5001"];
const DEFAULT_WAIT_SECONDS = 2;
/** Longer waits are shown as an error, for example the wait for the next month. */
const MAX_WAIT_SECONDS = 30;

const FACE_ID_BYTES = 16;
/** Errors of a permission that is missing. */
const REFUSALS = ["SCOPE_MISSING", "PURPOSE_DISABLED"];
/** The last key that may not search. */
let keyWithoutSearch: string | undefined;

/** An enrolled face, with its part of the photo. */
export interface EnrolledCrop {
  readonly faceId: string;
  /** Missing if the quality was not checked. */
  readonly quality?: Quality | undefined;
  readonly crop: HTMLCanvasElement;
}

/**
 * Checks a photo, enrols its most prominent face, and waits while the service is busy. Throws PhotoError or
 * RequestError.
 */
export async function enrolPhoto(
  file: File,
  enrolment: Enrolment,
  options: CallOptions,
): Promise<EnrolledCrop> {
  const photo = await openSentPhoto(file);
  try {
    const { faceId, box, quality } = await retryWhileBusy(
      () => enrolIfPermitted(enrolment, photo.file, options),
      options.signal,
    );
    const crop = cropFace(photo.image, photo.toPhoto(box), `Enrolled face of ${file.name}`);
    return { faceId, quality, crop };
  } finally {
    closePhoto(photo);
  }
}

/** Makes the id of a face from its photo, as the command line does. Undefined on pages over plain HTTP. */
export async function faceIdOf(photo: Blob): Promise<string | undefined> {
  if (!globalThis.crypto.subtle) return undefined;
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", await photo.arrayBuffer()));
  return [...digest.slice(0, FACE_ID_BYTES)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Enrols without a check of the person if the key may not search. */
async function enrolIfPermitted(enrolment: Enrolment, photo: Blob, options: CallOptions) {
  const checkPerson = enrolment.checkPerson && readKey() !== keyWithoutSearch;
  try {
    return await enrolFace({ ...enrolment, checkPerson }, photo, options);
  } catch (error) {
    const isRefused = error instanceof RequestError && REFUSALS.includes(error.facts.reason ?? "");
    if (!checkPerson || !isRefused) throw error;
    keyWithoutSearch = readKey();
    return enrolFace({ ...enrolment, checkPerson: false }, photo, options);
  }
}

async function retryWhileBusy<Result>(
  send: () => Promise<Result>,
  signal: AbortSignal | undefined,
): Promise<Result> {
  for (let retries = 0; ; retries++) {
    try {
      return await send();
    } catch (error) {
      const seconds = waitAfter(error);
      if (seconds === undefined || retries === MAX_RETRIES) throw error;
      // An aborted wait ends early, and the next call reports that it was cancelled.
      await sleep(1000 * seconds, signal);
    }
  }
}

/** Returns how many seconds to wait before the next attempt; undefined if waiting does not help. */
function waitAfter(error: unknown): number | undefined {
  if (!(error instanceof RequestError) || !PASSING_CODES.includes(error.facts.code ?? "")) return undefined;
  const seconds = error.facts.retryAfterSeconds ?? DEFAULT_WAIT_SECONDS;
  return seconds <= MAX_WAIT_SECONDS ? seconds : undefined;
}

function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener("abort", end);
    if (signal?.aborted) end();
  });
}
