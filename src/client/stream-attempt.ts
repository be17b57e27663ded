import type { MessageInitShape } from "@bufbuild/protobuf";
import type { CallOptions } from "@connectrpc/connect";
import type {
  AnalyzeImagesRequestSchema,
  AnalyzeImagesResponse,
} from "../../gen/ts/visage/v1/face_analysis_pb.ts";
import { Outbox } from "./outbox.ts";
import { connectionError, type VisageError, visageErrorFromCause } from "./visage-error.ts";

export type StreamRequest = MessageInitShape<typeof AnalyzeImagesRequestSchema>;

/** Opens a stream to the service. */
export type OpenStream = (
  requests: AsyncIterable<StreamRequest>,
  options: CallOptions,
) => AsyncIterable<AnalyzeImagesResponse>;

/** The end of a read: a value, or the error that was thrown. */
export type Settled<T> = { readonly value: T } | { readonly cause: unknown };

/** One stream to the service. */
export interface Attempt {
  readonly outbox: Outbox<StreamRequest>;
  readonly responses: AsyncIterator<AnalyzeImagesResponse>;
  readonly controller: AbortController;
  /** Why an item has to be sent again. Then nothing more is sent, and the stream ends after the other results. */
  rejection?: VisageError;
}

export function openAttempt(open: OpenStream): Attempt {
  const outbox = new Outbox<StreamRequest>();
  const controller = new AbortController();
  const responses = open(outbox, { signal: controller.signal });
  return { outbox, controller, responses: responses[Symbol.asyncIterator]() };
}

/** Waits for a result without rejecting, so that one nobody waits for is not an unhandled rejection. */
export async function settle<T>(read: () => T | Promise<T>): Promise<Settled<T>> {
  try {
    return { value: await read() };
  } catch (cause) {
    return { cause };
  }
}

/** Returns why a stream has ended although some items have no result. */
export function errorOfEnd(end: Settled<unknown>, { aborted, reason }: AbortSignal): VisageError {
  if (aborted) return reason;
  if ("cause" in end) return visageErrorFromCause(end.cause);
  return connectionError("UNREACHABLE", "The stream ended before all results came.", { retryable: true });
}

/** The error that ends a stream on which a result is overdue. */
export function overdueError(): VisageError {
  return connectionError("DEADLINE_PASSED", "No result came within the deadline.", { retryable: true });
}
