// The lifecycle of a request. A stage rejects a request by throwing; `fail` owns every error.
//
//   port.ts -> createListener -> serve
//                                  |
//   head       head.ts             readHead   id, CORS, host, path, method
//                                  |    `---> probe, page, OPTIONS, open RPC: answered without the next stages
//   admission  admission.ts        admit      user, rate, quota, room in the queue and in the byte budget
//                                  |
//   body       body.ts             readBody   deadline, size, byte budget, backpressure
//                                  |
//   service    rest/ or rpc.ts     rest.call or serveUnary, then sendResponse; a stream: stream-server.ts
//                                  |    `---> thrown by any stage -> fail -> sendError, in the caller's protocol
//   end        request-context.ts  onEnd      exactly once, also after a cancellation: frees the quota slot
//                                             and the budget; then log line, metrics, trace

import type { ConnectRouter, Interceptor } from "@connectrpc/connect";
import type { UniversalHandler } from "@connectrpc/connect/protocol";
import { type RestHandler, requireIdentityEncoding } from "../rest/handler.ts";
import type { Route as RestRoute } from "../rest/routes.ts";
import { reasonFromKind } from "../service/error-table.ts";
import { isFirstGeneration } from "../service/first-generation.ts";
import { contextValuesWith } from "../service/request-record.ts";
import type { Log } from "../telemetry/log.ts";
import type { RequestObserver } from "../telemetry/request-summary.ts";
import type { Pages } from "../web/pages.ts";
import type { Admission } from "./admission.ts";
import { type Body, readBody } from "./body.ts";
import type { ByteBudget } from "./byte-budget.ts";
import { clientTimeoutMs } from "./client-timeout.ts";
import type { CorsOrigins } from "./cors.ts";
import { requestErrorFrom, sendError } from "./errors.ts";
import { destroy, type RequestListener, sendContinue } from "./exchange.ts";
import { allowedMethods, readHead, type Target } from "./head.ts";
import type { JsonLines } from "./json-lines.ts";
import { LIMITS } from "./limits.ts";
import type { OpenRpcLimiter } from "./open-rpc-limiter.ts";
import { RequestContext } from "./request-context.ts";
import { createRouter } from "./router.ts";
import { createRpcHandlers, serveUnary } from "./rpc.ts";
import { sendResponse } from "./send-response.ts";
import { createStreamServer, type Listener } from "./stream-server.ts";

/** What the edge serves, and its limits. */
export interface LifecycleOptions {
  readonly rest: RestHandler;
  /** Serves the same paths for programs of the first generation, if `isLegacy`. */
  readonly firstGenerationRest: RestHandler;
  /** Serve the typed API, whose responses have no envelope. */
  readonly typedRest: readonly RestHandler[];
  /** What is served as lines of JSON. */
  readonly lines: readonly JsonLines[];
  readonly rpcRoutes: (router: ConnectRouter) => void;
  readonly openRpcRoutes: (router: ConnectRouter) => void;
  readonly interceptors: Interceptor[];
  /** The web pages; undefined if they are switched off. */
  readonly pages: Pages | undefined;
  /** Whether the service is ready for requests. */
  readonly isReady: () => boolean;
  /** Aborted when the service shuts down. */
  readonly draining: AbortSignal;
  /** Whether requests are traced. */
  readonly isTraced: boolean;
  /** How many items of one stream may be in progress at the same time. */
  readonly streamWindow: number;
  readonly openRpcLimiter: OpenRpcLimiter;
  readonly budget: ByteBudget;
  readonly maxRequestBytes: number;
  /** For an operation, from the end of its body. */
  readonly timeoutMs: number;
  readonly corsOrigins: CorsOrigins;
  /** Whether to answer like the original service. */
  readonly isLegacy: boolean;
  readonly log: Log;
}

/** The admission of a listener's requests, and the observers of their ends. */
export interface ListenerOptions {
  readonly admission: Admission;
  readonly observers: readonly RequestObserver[];
}

/** Serves requests from head to end. */
export interface Lifecycle {
  /** Creates a listener for requests. It never throws: it owns every error, synchronous or not. */
  createListener(options: ListenerOptions): RequestListener;
  /** The number of requests that have not ended. */
  readonly inFlight: number;
  /** The number of requests whose work has not ended. It may go on for a while after the client has left. */
  readonly running: number;
}

export function createLifecycle(options: LifecycleOptions): Lifecycle {
  const { rest, firstGenerationRest, typedRest, pages, budget, log } = options;
  const { handlers, openHandlers } = createRpcHandlers({
    routes: options.rpcRoutes,
    openRoutes: options.openRpcRoutes,
    interceptors: options.interceptors,
    maxRequestBytes: options.maxRequestBytes,
  });
  const router = createRouter({
    pagePaths: pages?.paths ?? [],
    rpcHandlers: handlers,
    openRpcHandlers: openHandlers,
    restRoutes: rest.routes,
    typedRestRoutes: typedRest.flatMap(({ routes }) => routes),
    lines: options.lines,
  });
  const streams = createStreamServer(options);
  let inFlight = 0;
  let running = 0;

  async function serve(context: RequestContext, listener: Listener): Promise<void> {
    const { route, methods, target, isOptions } = readHead(context, router, options.corsOrigins);
    if (isOptions) {
      const allow = allowedMethods(methods).join(", ");
      return sendResponse(context, { status: 204, headers: { allow } });
    }
    if (route.kind === "probe") return serveProbe(context, route.path);
    if (route.kind === "page")
      return sendResponse(context, pages!.respond(route.path, context.request.headers));
    if (route.access === "open") return streams.serveOpen(context, openHandlers.get(route.path)!);
    await listener.admission.admit(context);
    if (route.lines) return streams.serveLines(context, listener, route.lines, target);
    if (route.rest) return serveRest(context, route.rest, target);
    const handler = handlers.get(route.path)!;
    if (handler.method.methodKind === "unary") return serveRpc(context, handler);
    await streams.serveRpc(context, listener, handler);
  }

  function serveProbe(context: RequestContext, path: string): void {
    const isOk = path === "/healthz" || options.isReady();
    sendResponse(context, {
      status: isOk ? 200 : 503,
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ status: isOk ? "ok" : "not ready" }),
    });
  }

  async function serveRpc(context: RequestContext, handler: UniversalHandler): Promise<void> {
    const timeoutMs = clientTimeoutMs(context.request.headers);
    if (timeoutMs !== undefined) context.deadlineMs = context.startMs + timeoutMs;
    const body = await receiveBody(context);
    await serveUnary(context, handler, body, {
      maxBytes: options.maxRequestBytes,
      timeoutMs: options.timeoutMs,
    });
  }

  async function serveRest(
    context: RequestContext,
    route: RestRoute,
    { variables, query }: Target,
  ): Promise<void> {
    const { request } = context;
    requireIdentityEncoding(request.headers);
    const { bytes, lease } = await receiveBody(context);
    lease.complete();
    context.expireAfter(options.timeoutMs);
    const handler = restHandlerFor(context, route);
    const result = await handler.call(route, {
      variables,
      query,
      headers: request.headers,
      body: bytes,
      signal: context.signal,
      timeoutMs: options.timeoutMs,
      values: contextValuesWith(context.record),
    });
    sendResponse(context, {
      status: 200,
      headers: { ...result.headers, "content-type": "application/json" },
      body: JSON.stringify(result.body),
    });
  }

  function restHandlerFor({ route, request }: RequestContext, restRoute: RestRoute): RestHandler {
    if (!route?.hasEnvelope) return typedRest.find(({ routes }) => routes.includes(restRoute))!;
    return options.isLegacy && isFirstGeneration(request.headers) ? firstGenerationRest : rest;
  }

  function receiveBody(context: RequestContext): Promise<Body> {
    sendContinue(context.request, context.response);
    return readBody(context, {
      maxBytes: options.maxRequestBytes,
      budget,
      // Never shorter than the time for the head.
      timeoutMs: Math.max(LIMITS.headMs, options.timeoutMs),
    });
  }

  /** Answers a request with the error that a stage threw. */
  function fail(context: RequestContext, error: unknown): void {
    if (context.isEnded) return;
    if (context.response.headersSent) {
      // A stream whose client does not read, for example.
      if (!context.signal.aborted) context.record.outcome ??= reasonFromKind(requestErrorFrom(error).kind);
      destroy(context.response);
      return;
    }
    try {
      sendError(context, error, options);
    } catch (cause) {
      const ids = { requestId: context.id, trace_id: context.trace?.traceId };
      log.error({ event: "error not sent", ...ids, cause: stackOf(cause) });
      destroy(context.response);
    }
  }

  function end(context: RequestContext, observe: RequestObserver): void {
    inFlight--;
    // Probes, pages and health checks would flood the log.
    if (context.route?.access !== "open") observe(context.summary());
  }

  /** Combines observers. The failure of one affects neither the request nor the others. */
  function combine(observers: readonly RequestObserver[]): RequestObserver {
    return (summary) => {
      for (const observe of observers) {
        try {
          observe(summary);
        } catch (error) {
          const { requestId, trace } = summary;
          const ids = { requestId, trace_id: trace?.traceId };
          log.error({ event: "observer failed", ...ids, cause: stackOf(error) });
        }
      }
    };
  }

  return {
    createListener: ({ admission, observers }) => {
      const listener = { admission, observe: combine(observers) };
      return (request, response) => {
        inFlight++;
        const context = new RequestContext(request, response, {
          isTraced: options.isTraced,
          isDraining: () => options.draining.aborted,
          onEnd: () => end(context, listener.observe),
        });
        running++;
        serve(context, listener)
          .catch((error: unknown) => fail(context, error))
          .finally(() => running--);
      };
    },
    get inFlight() {
      return inFlight;
    },
    get running() {
      return running;
    },
  };
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
