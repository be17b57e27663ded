import type { UniversalHandler } from "@connectrpc/connect/protocol";
import { requireIdentityEncoding } from "../rest/handler.ts";
import { ServiceError } from "../service/service-error.ts";
import type { RequestObserver } from "../telemetry/request-summary.ts";
import type { Admission } from "./admission.ts";
import type { BodyLease, ByteBudget } from "./byte-budget.ts";
import { clientTimeoutMs } from "./client-timeout.ts";
import { onLeaving } from "./connections.ts";
import { sendContinue } from "./exchange.ts";
import type { Target } from "./head.ts";
import type { JsonLines } from "./json-lines.ts";
import { LIMITS } from "./limits.ts";
import type { RequestContext } from "./request-context.ts";
import { RequestItems } from "./request-items.ts";
import { serveStream } from "./rpc.ts";
import { StreamBody } from "./stream-body.ts";

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
}

/** Serves admitted requests whose body or response is a stream. */
export interface StreamServer {
  serveLines(context: RequestContext, listener: Listener, lines: JsonLines, target: Target): Promise<void>;
  serveRpc(context: RequestContext, listener: Listener, handler: UniversalHandler): Promise<void>;
}

export function createStreamServer(options: StreamServerOptions): StreamServer {
  async function serveLines(
    context: RequestContext,
    listener: Listener,
    lines: JsonLines,
    { variables, query }: Target,
  ): Promise<void> {
    requireIdentityEncoding(context.request.headers);
    if ("serveItems" in lines)
      return serveItems(context, listener, (body, items) => lines.serveItems(context, body, items));
    await withStreamBody(
      context,
      () => false,
      (body) => lines.serve(context, { body, variables, query }),
    );
  }

  async function serveRpc(
    context: RequestContext,
    listener: Listener,
    handler: UniversalHandler,
  ): Promise<void> {
    const { maxRequestBytes: maxBytes } = options;
    if (handler.method.methodKind === "bidi_streaming")
      return serveItems(context, listener, (body, items) =>
        serveStream(context, handler, body, { maxBytes, items, onMessage: (lease) => items.add(lease) }),
      );
    // A message in one direction is no longer needed when the next one is read.
    let last: BodyLease | undefined;
    const onMessage = (next?: BodyLease) => {
      last?.release();
      last = next;
    };
    await withStreamBody(
      context,
      () => false,
      (body) => serveStream(context, handler, body, { maxBytes, onMessage }),
    ).finally(() => onMessage());
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
    await withStreamBody(context, isBusy, async (body) => {
      items = new RequestItems(context, {
        window: options.streamWindow,
        admitItem: admission.admitItem,
        onForbidden: (error) => body.stop(error),
        observe,
      });
      await serveMessages(body, items);
    }).finally(() => items?.close());
  }

  /** Opens the body of a stream. It is stopped at the client's deadline and when the service or connection ends. */
  async function withStreamBody(
    context: RequestContext,
    isBusy: () => boolean,
    work: (body: StreamBody) => Promise<void>,
  ): Promise<void> {
    sendContinue(context.request, context.response);
    const { maxRequestBytes: maxBytes, timeoutMs: messageMs } = options;
    const body = new StreamBody(context, { budget: options.budget, maxBytes, timeoutMs: messageMs, isBusy });
    const leave = onLeaving(context.request, options.draining, () => body.stop(new ServiceError("draining")));
    const timeoutMs = clientTimeoutMs(context.request.headers) ?? Number.POSITIVE_INFINITY;
    const deadline = setTimeout(
      () => body.stop(new ServiceError("deadlinePassed")),
      Math.min(timeoutMs, LIMITS.clientDeadlineMs),
    );
    try {
      await work(body);
    } finally {
      leave.cancel();
      clearTimeout(deadline);
    }
  }

  return { serveLines, serveRpc };
}
