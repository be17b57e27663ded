import { setInterval } from "node:timers/promises";
import { createAsyncIterable, type UniversalHandler } from "@connectrpc/connect/protocol";
import { requireIdentityEncoding } from "../rest/handler.ts";
import { connectErrorFrom } from "../service/error-responses.ts";
import { RECHECK_INTERVAL_MS } from "../service/recheck-caller.ts";
import { ServiceError } from "../service/service-error.ts";
import type { RequestObserver } from "../telemetry/request-summary.ts";
import type { Admission } from "./admission.ts";
import { readBody } from "./body.ts";
import { type BodyLease, ByteBudget } from "./byte-budget.ts";
import { clientTimeoutMs } from "./client-timeout.ts";
import { onLeaving } from "./connections.ts";
import { sendContinue } from "./exchange.ts";
import type { JsonLines } from "./json-lines.ts";
import { LIMITS } from "./limits.ts";
import type { OpenRpcLimiter } from "./open-rpc-limiter.ts";
import type { RequestContext } from "./request-context.ts";
import { RequestItems } from "./request-items.ts";
import type { Target } from "./route.ts";
import { serveOpen as callOpen, serveStream } from "./rpc.ts";
import { ENVELOPE_HEADER_BYTES } from "./rpc-message.ts";
import { StreamBody, type StreamBodyOptions } from "./stream-body.ts";

/** What a listener needs for each request. */
export interface Listener {
  readonly admission: Admission;
  readonly observe: RequestObserver;
}

/** Limits of streams. */
export interface StreamServerOptions {
  /** Aborted when the service shuts down. */
  readonly draining: AbortSignal;
  /** How many items of one stream may be in progress at the same time. */
  readonly streamWindow: number;
  readonly budget: ByteBudget;
  /** The limit of one message. */
  readonly maxRequestBytes: number;
  /** From the first to the last byte of one message. */
  readonly timeoutMs: number;
  readonly openRpcLimiter: OpenRpcLimiter;
}

/** Serves admitted requests whose body or response is a stream, and the RPCs of open services. */
export interface StreamServer {
  serveLines(context: RequestContext, listener: Listener, lines: JsonLines, target: Target): Promise<void>;
  serveRpc(context: RequestContext, listener: Listener, handler: UniversalHandler): Promise<void>;
  serveOpen(context: RequestContext, handler: UniversalHandler): Promise<void>;
}

/** A message of an open service. Their number is limited, so that it need not wait in the budget of users' bodies. */
const OPEN_MESSAGE = {
  budget: new ByteBudget({ totalBytes: Number.POSITIVE_INFINITY, maxWaitMs: 0 }),
  maxBytes: LIMITS.openMessageBytes,
  timeoutMs: LIMITS.streamIdleMs,
};

export function createStreamServer(options: StreamServerOptions): StreamServer {
  const { budget, maxRequestBytes, timeoutMs: messageMs, draining } = options;
  const message = { budget, maxBytes: maxRequestBytes, timeoutMs: messageMs };

  async function serveLines(
    context: RequestContext,
    listener: Listener,
    lines: JsonLines,
    { variables, query }: Target,
  ): Promise<void> {
    requireIdentityEncoding(context.request.headers);
    if ("serveItems" in lines)
      return serveItems(context, listener, (body, items) => lines.serveItems(context, body, items));
    await serveOneWay(context, (body, onMessage) =>
      lines.serve(context, { body, onMessage, variables, query }),
    );
  }

  async function serveRpc(
    context: RequestContext,
    listener: Listener,
    handler: UniversalHandler,
  ): Promise<void> {
    const { maxBytes } = message;
    if (handler.method.methodKind === "bidi_streaming")
      return serveItems(context, listener, (body, items) =>
        serveStream(context, handler, body, { maxBytes, items, onMessage: (lease) => items.add(lease) }),
      );
    await serveOneWay(context, (body, onMessage) =>
      serveStream(context, handler, body, { maxBytes, onMessage }),
    );
  }

  /** Serves a stream in one direction. Its messages are released one by one, when the next one is read. */
  async function serveOneWay(
    context: RequestContext,
    work: (body: StreamBody, onMessage: (lease: BodyLease) => void) => Promise<void>,
  ): Promise<void> {
    let last: BodyLease | undefined;
    let isEnded = false;
    const onMessage = (next: BodyLease) => {
      last?.release();
      last = next;
      if (isEnded) next.release();
    };
    await withStreamBody(context, message, (body) => work(body, onMessage)).finally(() => {
      isEnded = true;
      last?.release();
    });
  }

  async function serveOpen(context: RequestContext, handler: UniversalHandler): Promise<void> {
    const { methodKind } = handler.method;
    const release = options.openRpcLimiter.add(context, methodKind !== "unary");
    const callWithBody = (bytes: Uint8Array) => callOpen(context, handler, createAsyncIterable([bytes]));
    // A unary call whose message has arrived ends soon.
    if (methodKind === "unary") return callWithBody(await readOpenBody(context).finally(release));
    const call =
      methodKind === "bidi_streaming"
        ? withStreamBody(context, OPEN_MESSAGE, (body) => callOpen(context, handler, readOpenMessages(body)))
        : readOpenBody(context).then(callWithBody);
    await call.finally(release);
  }

  /** Serves a stream. Its items are admitted and counted, not the stream itself. */
  async function serveItems(
    context: RequestContext,
    { admission, observe }: Listener,
    serveMessages: (body: StreamBody, items: RequestItems) => Promise<void>,
  ): Promise<void> {
    context.releaseQuota();
    let items: RequestItems | undefined;
    const isBusy = () => items?.isBusy ?? false;
    await withStreamBody(context, { ...message, isBusy }, async (body) => {
      items = new RequestItems(context, {
        window: options.streamWindow,
        admitItem: admission.admitItem,
        onForbidden: (error) => body.stop(error),
        observe,
      });
      await serveMessages(body, items);
    }).finally(() => items?.close());
  }

  /**
   * Opens the body of a stream. It is stopped at the client's deadline, when the service or connection ends, and when
   * the caller may not continue.
   */
  async function withStreamBody(
    context: RequestContext,
    messages: StreamBodyOptions,
    work: (body: StreamBody) => Promise<void>,
  ): Promise<void> {
    sendContinue(context.request, context.response);
    const body = new StreamBody(context, messages);
    const end = new AbortController();
    recheckCaller(context, end.signal).catch((error: unknown) => body.stop(error));
    const leave = onLeaving(context.request, draining, () => body.stop(new ServiceError("draining")));
    const timeoutMs = clientTimeoutMs(context.request.headers) ?? Number.POSITIVE_INFINITY;
    const deadline = setTimeout(
      () => body.stop(new ServiceError("deadlinePassed")),
      Math.min(timeoutMs, LIMITS.clientDeadlineMs),
    );
    try {
      await work(body);
    } finally {
      end.abort();
      leave.cancel();
      clearTimeout(deadline);
    }
  }

  return { serveLines, serveRpc, serveOpen };
}

/** Checks the caller until the stream ends, also while no message comes. Throws ServiceError if it may not continue. */
async function recheckCaller({ record }: RequestContext, signal: AbortSignal): Promise<void> {
  if (!record.recheckCaller) return;
  for await (const _ of setInterval(RECHECK_INTERVAL_MS, undefined, { signal })) await record.recheckCaller();
}

/** Reads the body of an open service's method that takes one message. */
async function readOpenBody(context: RequestContext): Promise<Uint8Array> {
  sendContinue(context.request, context.response);
  const maxBytes = OPEN_MESSAGE.maxBytes + ENVELOPE_HEADER_BYTES;
  return (await readBody(context, { ...OPEN_MESSAGE, maxBytes })).bytes;
}

/** Reads the messages of an open service, whose errors no interceptor translates. */
async function* readOpenMessages(body: StreamBody): AsyncGenerator<Uint8Array> {
  try {
    for await (const { bytes, lease } of body.readEnvelopes()) {
      lease.release();
      yield bytes;
    }
  } catch (fault) {
    throw fault instanceof ServiceError ? connectErrorFrom(fault) : fault;
  }
}
