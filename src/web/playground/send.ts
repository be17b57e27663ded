import { type FaceRequest, requestPath } from "./request.ts";
import type { Envelope, ResponseData } from "./responses.ts";

/** The outcome of a request. */
export type Outcome = Success | Failure;

/** A successful response. */
export interface Success {
  readonly isSuccess: true;
  readonly request: FaceRequest;
  readonly response: Envelope<ResponseData>;
  readonly httpStatus: number;
  readonly roundTripMs: number;
}

/** An error response, or no response. */
export interface Failure {
  readonly isSuccess: false;
  readonly message: string;
  /** The stable error code; missing if there was no response. */
  readonly code?: string;
  readonly httpStatus?: number;
  readonly response?: unknown;
  /** The photo that caused the error. */
  readonly photo?: string | undefined;
  readonly retryAfterSeconds?: number | undefined;
  readonly requestId?: string | undefined;
}

/** Sends a request as multipart/form-data, like the curl command that the page shows. Never throws. */
export async function send(request: FaceRequest, userId: string): Promise<Outcome> {
  const body = new FormData();
  for (const { field, photo } of request.images) if (photo) body.append(field, photo.file, photo.name);
  const start = performance.now();
  try {
    const url = new URL(requestPath(request), document.baseURI);
    const http = await fetch(url, { method: "POST", headers: { user_id: userId }, body });
    const response: Envelope<ResponseData> = await http.json();
    const roundTripMs = performance.now() - start;
    // In legacy mode errors have HTTP status 200, so check the envelope.
    if (!response.success) return failureFrom(request, http, response);
    return { isSuccess: true, request, response, httpStatus: http.status, roundTripMs };
  } catch {
    return { isSuccess: false, message: "The service could not be reached." };
  }
}

function failureFrom(
  request: FaceRequest,
  { status, headers }: Response,
  response: Envelope<unknown>,
): Failure {
  const field = headers.get("x-visage-image");
  const image = request.images.find((candidate) => candidate.field === field);
  const retryAfter = headers.get("retry-after");
  return {
    isSuccess: false,
    message: response.message,
    code: response.code,
    httpStatus: status,
    response,
    photo: image && `${image.slot + 1} (${image.photo?.name})`,
    retryAfterSeconds: retryAfter === null ? undefined : Number(retryAfter),
    requestId: headers.get("x-request-id") ?? undefined,
  };
}
