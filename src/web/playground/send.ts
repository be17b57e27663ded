import type { AnswerData, Envelope } from "./answers.ts";
import { type FaceRequest, targetOf } from "./request.ts";

/** What became of a request. */
export type Outcome = Success | Failure;

/** An answer. */
export interface Success {
  readonly isSuccess: true;
  readonly request: FaceRequest;
  readonly answer: Envelope<AnswerData>;
  readonly httpStatus: number;
  readonly roundTripMs: number;
}

/** An error, of the service or on the way to it. */
export interface Failure {
  readonly isSuccess: false;
  readonly message: string;
  /** The stable code of the service; none where it gave no answer. */
  readonly code?: string;
  readonly httpStatus?: number;
  readonly answer?: unknown;
  /** Which photo is at fault. */
  readonly photo?: string | undefined;
  readonly retryAfterSeconds?: number | undefined;
  readonly requestId?: string | undefined;
}

/** Sends a request as multipart, the way the page shows it. Never throws. */
export async function send(request: FaceRequest, userId: string): Promise<Outcome> {
  const body = new FormData();
  for (const { field, photo } of request.images) if (photo) body.append(field, photo.file, photo.name);
  const start = performance.now();
  try {
    const url = new URL(targetOf(request), document.baseURI);
    const response = await fetch(url, { method: "POST", headers: { user_id: userId }, body });
    const answer: Envelope<AnswerData> = await response.json();
    const roundTripMs = performance.now() - start;
    // Not the status: a service in its legacy manner answers errors with 200.
    if (!answer.success) return failureFrom(request, response, answer);
    return { isSuccess: true, request, answer, httpStatus: response.status, roundTripMs };
  } catch {
    return { isSuccess: false, message: "The service could not be reached." };
  }
}

function failureFrom(
  request: FaceRequest,
  { status, headers }: Response,
  answer: Envelope<unknown>,
): Failure {
  const field = headers.get("x-visage-image");
  const photo = request.images.find((image) => image.field === field);
  const wait = headers.get("retry-after");
  return {
    isSuccess: false,
    message: answer.message,
    code: answer.code,
    httpStatus: status,
    answer,
    photo: photo && `${photo.slot + 1} (${photo.photo?.name})`,
    retryAfterSeconds: wait === null ? undefined : Number(wait),
    requestId: headers.get("x-request-id") ?? undefined,
  };
}
