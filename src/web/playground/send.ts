import { PhotoError } from "../photos/open-photo.ts";
import type { ServiceCall } from "../site/request.ts";
import { type FailureFacts, RequestError } from "../site/request-error.ts";
import { analyze, compare, prepare } from "./calls.ts";
import type { FaceRequest } from "./request.ts";
import type { Analysis, Comparison } from "./responses.ts";

/** The outcome of a request. */
export type Outcome = Success | Failure;

/** A successful response. */
export interface Success {
  readonly isSuccess: true;
  /** Whether the response is stored with the page, and the service was not called. */
  readonly isStored?: true;
  readonly request: FaceRequest;
  /** Its positions are pixels of the original photos, also if these were scaled down before they were sent. */
  readonly response: Analysis | Comparison;
  readonly httpStatus: number;
  readonly roundTripMs: number;
}

/** An error response, or no response. */
export interface Failure extends Partial<FailureFacts> {
  readonly isSuccess: false;
  readonly message: string;
  readonly httpStatus?: number | undefined;
  readonly response?: unknown;
  /** The photo that caused the error. */
  readonly photo?: string | undefined;
}

/** Sends a request whose photos are all there. */
export async function send(
  request: FaceRequest,
  key: string,
  options: Pick<ServiceCall, "signal" | "onProgress">,
): Promise<Outcome> {
  try {
    const { images, features, mayScale } = request;
    const [first, second] = await Promise.all(
      images.map(async ({ photo, box }) => ({ ...(await prepare(photo!, mayScale)), box })),
    );
    const call = { key, ...options };
    const sending = second ? compare(first!, second, call) : analyze(first!, features, call);
    const { body, status, roundTripMs } = await sending;
    return { isSuccess: true, request, response: body, httpStatus: status, roundTripMs };
  } catch (error) {
    if (error instanceof RequestError) return failureFrom(request, error);
    if (error instanceof PhotoError) return { isSuccess: false, message: error.message, code: "2005" };
    throw error;
  }
}

function failureFrom({ images }: FaceRequest, { message, facts }: RequestError): Failure {
  const image = images.find(({ field }) => field === facts.imageField);
  return {
    isSuccess: false,
    message,
    ...facts,
    httpStatus: facts.status,
    response: facts.body,
    photo: image && `${image.slot + 1} (${image.photo?.name})`,
  };
}
