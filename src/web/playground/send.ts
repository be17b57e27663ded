import { PhotoError } from "../photos/open-photo.ts";
import { callService, type ServiceCall } from "../site/request.ts";
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
export interface Failure extends Partial<FailureFacts> {
  readonly isSuccess: false;
  readonly message: string;
  readonly httpStatus?: number | undefined;
  readonly response?: unknown;
  /** The photo that caused the error. */
  readonly photo?: string | undefined;
}

/**
 * Sends a request as multipart/form-data, like the curl command that the page shows. Positions in the request and in the
 * response are pixels of the original photos, also if the photos are scaled down before they are sent.
 */
export async function send(
  request: FaceRequest,
  userId: string,
  options: Pick<ServiceCall, "signal" | "onProgress">,
): Promise<Outcome> {
  try {
    const { body, images, scales } = await createSentRequest(request);
    const path = requestPath({ ...request, images });
    const call = { path, body, key: userId, ...options };
    const { body: sent, status, roundTripMs } = await callService<Envelope<ResponseData>>(call);
    const response = { ...sent, data: toOriginal(sent.data, scales) };
    return { isSuccess: true, request, response, httpStatus: status, roundTripMs };
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
