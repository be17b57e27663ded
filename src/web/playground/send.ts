import { PhotoError } from "../photos/open-photo.ts";
import { callService } from "../site/request.ts";
import { type FailureFacts, RequestError } from "../site/request-error.ts";
import { type FaceRequest, requestPath } from "./request.ts";
import type { Envelope, ResponseData } from "./responses.ts";
import { toOriginal } from "./scale-response.ts";
import { createSentRequest } from "./sent-request.ts";

/** The outcome of a request. */
export type Outcome = Success | Failure;

/** A successful response. */
export interface Success {
  readonly isSuccess: true;
  /** Whether the response is stored with the page, and the service was not called. */
  readonly isStored?: true;
  readonly request: FaceRequest;
  readonly response: Envelope<ResponseData>;
  readonly httpStatus: number;
  readonly roundTripMs: number;
}

/** An error response, or no response. */
export interface Failure {
  readonly isSuccess: false;
  readonly message: string;
  /** How the call failed; missing if the page rejected the input. */
  readonly kind?: FailureFacts["kind"];
  /** The stable error code; missing if the service did not answer. */
  readonly code?: string | undefined;
  readonly httpStatus?: number | undefined;
  readonly response?: unknown;
  /** The photo that caused the error. */
  readonly photo?: string | undefined;
  readonly retryAfterSeconds?: number | undefined;
  readonly resetSeconds?: number | undefined;
  readonly requestId?: string | undefined;
}

/** What a caller may watch and stop. */
export interface SendOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((share: number) => void) | undefined;
}

/**
 * Sends a request as multipart/form-data, like the curl command that the page shows. Positions in the request and in the
 * response are pixels of the original photos, also if the photos are scaled down before they are sent.
 */
export async function send(
  request: FaceRequest,
  userId: string,
  { signal, onProgress }: SendOptions = {},
): Promise<Outcome> {
  try {
    const { body, images, scales } = await createSentRequest(request);
    const path = requestPath({ ...request, images });
    const call = { path, body, key: userId, signal, onProgress };
    const { body: sent, status, roundTripMs } = await callService<Envelope<ResponseData>>(call);
    const response = { ...sent, data: toOriginal(sent.data, scales) };
    return { isSuccess: true, request, response, httpStatus: status, roundTripMs };
  } catch (error) {
    if (error instanceof RequestError) return failureFrom(request, error);
    if (error instanceof PhotoError) return { isSuccess: false, message: error.message, code: "2004" };
    throw error;
  }
}

function failureFrom({ images }: FaceRequest, { message, facts }: RequestError): Failure {
  const image = images.find(({ field }) => field === facts.imageField);
  return {
    isSuccess: false,
    message,
    kind: facts.kind,
    code: facts.code,
    httpStatus: facts.status,
    response: facts.body,
    photo: image && `${image.slot + 1} (${image.photo?.name})`,
    retryAfterSeconds: facts.retryAfterSeconds,
    resetSeconds: facts.resetSeconds,
    requestId: facts.requestId,
  };
}
