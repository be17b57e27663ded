import { cancelled, headersOf, type ServiceCall, TIMEOUT_MS, timedOut, unreachable } from "./request.ts";
import { errorFromJson, errorFromProxy, type RequestError, type ResponseHead } from "./request-error.ts";

/** A call whose response is read piece by piece. */
export type StreamCall = Pick<ServiceCall, "path" | "headers" | "signal" | "timeoutMs"> & {
  /** Called with the bytes of the response as they arrive. */
  readonly onChunk: (chunk: Uint8Array<ArrayBuffer>) => void;
};

/**
 * Calls the service and passes the response on as it arrives, so that a large one is never in memory as a whole.
 * Throws RequestError as `callService` does, also if the response stands still for the timeout. An error that the
 * service writes at the end of a stream is part of the response.
 */
export async function streamService(call: StreamCall): Promise<ResponseHead> {
  const { signal, timeoutMs = TIMEOUT_MS, onChunk } = call;
  if (signal?.aborted) throw cancelled();
  const controller = new AbortController();
  const onAbort = () => controller.abort();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isLate = false;
  const watch = () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      isLate = true;
      controller.abort();
    }, timeoutMs);
  };
  signal?.addEventListener("abort", onAbort);
  try {
    watch();
    const url = new URL(call.path, document.baseURI);
    const response = await orUnreachable(
      fetch(url, { headers: headersOf(call), signal: controller.signal, cache: "no-store" }),
    );
    const head = { status: response.status, header: (name: string) => response.headers.get(name) };
    if (!response.ok || !response.body) throw await errorOf(response, head);
    const reader = response.body.getReader();
    for (;;) {
      watch();
      const { done, value } = await orUnreachable(reader.read());
      if (done) return head;
      onChunk(value);
    }
  } catch (error) {
    if (signal?.aborted) throw cancelled();
    if (isLate) throw timedOut(timeoutMs, true);
    throw error;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
    // Ends the connection if the response was not read to its end.
    controller.abort();
  }
}

async function orUnreachable<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch {
    throw unreachable();
  }
}

async function errorOf(response: Response, head: ResponseHead): Promise<RequestError> {
  try {
    return errorFromJson(head, JSON.parse(await response.text()));
  } catch {
    return errorFromProxy(head);
  }
}
