import type { ConnectRouter, Interceptor } from "@connectrpc/connect";
import type { UniversalHandler } from "@connectrpc/connect/protocol";
import { type RestHandler, requireIdentityEncoding } from "../rest/handler.ts";
import { REQUEST_ID } from "../service/interceptors.ts";
import { contextWith } from "../service/record.ts";
import { ServiceError } from "../service/service-error.ts";
import type { Log } from "../telemetry/log.ts";
import type { RequestObserver } from "../telemetry/request-end.ts";
import type { Pages } from "../web/pages.ts";
import type { Admission } from "./admission.ts";
import { readBody } from "./body.ts";
import type { ByteBudget } from "./byte-budget.ts";
import { type CorsOrigins, corsHeadersOf } from "./cors.ts";
import { sendError } from "./errors.ts";
import { askForBody, destroy, type Request, type Response, send } from "./exchange.ts";
import { LIMITS } from "./limits.ts";
import { RequestContext } from "./request-context.ts";
import {
  hasValidAuthority,
  NO_OPERATION,
  operationOf,
  protocolOf,
  type Route,
  Router,
  type Target,
  targetOf,
} from "./router.ts";
import { clientTimeoutMs, createRpcHandlers, serveOpen, serveUnary } from "./rpc.ts";
import type { WatchLimiter } from "./watch-limiter.ts";

/** What the edge serves, and how. */
export interface LifecycleOptions {
  readonly rest: RestHandler;
  readonly rpcRoutes: (router: ConnectRouter) => void;
  readonly openRpcRoutes: (router: ConnectRouter) => void;
  readonly interceptors: Interceptor[];
  readonly pages: Pages | undefined;
  /** Whether the service is ready for requests. */
  readonly isReady: () => boolean;
  readonly isDraining: () => boolean;
  readonly watches: WatchLimiter;
  readonly budget: ByteBudget;
  readonly maxRequestBytes: number;
  /** For an operation, from the end of its body. */
  readonly timeoutMs: number;
  readonly corsOrigins: CorsOrigins;
  /** The HTTP status that plain HTTP is given in place of an error's own. */
  readonly httpStatus: (status: number) => number;
  readonly log: Log;
}

/** The admission of requests, and the observers of their end. */
export interface LifecycleUse {
  readonly admit: Admission;
  readonly observers: readonly RequestObserver[];
}

/** The lifecycle of requests: head, admission, body, service, end. */
export interface Lifecycle {
  /** The listener for requests; it owns every error, synchronous or not. */
  listener(use: LifecycleUse): (request: Request, response: Response) => void;
  /** Requests that have not ended. */
  readonly inFlight: number;
}

const PROBES = ["/healthz", "/readyz"];
const READ_METHODS = ["GET", "HEAD"];

export function createLifecycle(options: LifecycleOptions): Lifecycle {
  const { rest, pages, budget, log } = options;
  const { handlers, openHandlers } = createRpcHandlers({
    routes: options.rpcRoutes,
    openRoutes: options.openRpcRoutes,
    interceptors: options.interceptors,
    maxRequestBytes: options.maxRequestBytes,
  });
  const router = new Router().add(
    ...PROBES.map((path) => openRoute("probe", path, READ_METHODS)),
    ...(pages?.paths ?? []).map((path) => openRoute("page", path, READ_METHODS)),
    ...[...openHandlers.values()].map((handler) => rpcRoute(handler, NO_OPERATION)),
    ...[...handlers.values()].map((handler) => rpcRoute(handler, operationOf(handler.method))),
    ...[...rest.routes.values()].map(({ path, verb, method }) => ({
      ...openRoute("rest", path, [verb]),
      operation: operationOf(method),
      isOpen: false,
    })),
  );
  let inFlight = 0;

  /** Everything before the body that needs no account: id, CORS, authority, path, method. */
  function readHead(context: RequestContext): { route: Route; target: Target; isPreflight: boolean } {
    const { request, response } = context;
    const target = targetOf(request.url ?? "");
    const route = target && router.find(target.path);
    context.route = route;
    context.protocol = protocolOf(request, route);
    response.setHeader(REQUEST_ID, context.id);
    request.headers[REQUEST_ID] = context.id;
    const isPreflight = request.method === "OPTIONS";
    const cors = corsHeadersOf(
      request.headers,
      options.corsOrigins,
      isPreflight ? route?.methods : undefined,
    );
    for (const [name, value] of Object.entries(cors)) response.setHeader(name, value);
    if (!hasValidAuthority(request)) throw new ServiceError("badRequest", "The request names no valid host.");
    if (!route) throw new ServiceError("noSuchPath");
    if (!isPreflight && !route.methods.includes(request.method ?? "")) throw wrongMethod(request, route);
    return { route, target, isPreflight };
  }

  async function serve(context: RequestContext, { admit }: LifecycleUse): Promise<void> {
    const { route, target, isPreflight } = readHead(context);
    if (isPreflight) {
      const allow = [...route.methods, "OPTIONS"].join(", ");
      return send(context, { status: 204, headers: { allow } });
    }
    if (route.kind === "probe") return answerProbe(context);
    if (route.kind === "page") return send(context, pages!.respond(route.path, context.request.headers));
    if (route.isOpen) return serveOpenRpc(context, openHandlers.get(route.path)!);
    await admit(context);
    if (route.kind === "rpc") await serveRpc(context, handlers.get(route.path)!);
    else await serveRest(context, target);
  }

  function answerProbe(context: RequestContext): void {
    const isWell = context.route!.path === "/healthz" || options.isReady();
    send(context, {
      status: isWell ? 200 : 503,
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ status: isWell ? "ok" : "not ready" }),
    });
  }

  async function serveOpenRpc(context: RequestContext, handler: UniversalHandler): Promise<void> {
    if (handler.method.methodKind === "server_streaming") options.watches.add(context);
    askForBody(context.request, context.response);
    await serveOpen(context, handler);
  }

  async function serveRpc(context: RequestContext, handler: UniversalHandler): Promise<void> {
    const timeoutMs = clientTimeoutMs(context.request.headers);
    if (timeoutMs !== undefined) context.deadlineMs = context.startMs + timeoutMs;
    const body = await readWholeBody(context);
    await serveUnary(context, handler, body, {
      maxBytes: options.maxRequestBytes,
      timeoutMs: options.timeoutMs,
    });
  }

  async function serveRest(context: RequestContext, { path, query }: Target): Promise<void> {
    const { request } = context;
    requireIdentityEncoding(request.headers);
    const { bytes, lease } = await readWholeBody(context);
    lease.complete();
    context.expireAfter(options.timeoutMs);
    const result = await rest.call(rest.routes.get(path)!, {
      query,
      headers: request.headers,
      body: bytes,
      signal: context.signal,
      timeoutMs: options.timeoutMs,
      values: contextWith(context.record),
    });
    send(context, {
      status: 200,
      headers: { ...result.headers, "content-type": "application/json" },
      body: JSON.stringify(result.body),
    });
  }

  function readWholeBody(context: RequestContext) {
    askForBody(context.request, context.response);
    return readBody(context, {
      maxBytes: options.maxRequestBytes,
      budget,
      // Never shorter than the time for the head.
      timeoutMs: Math.max(LIMITS.headMs, options.timeoutMs),
    });
  }

  /** The one owner of what goes wrong while a request is served. */
  function fail(context: RequestContext, fault: unknown): void {
    if (context.isEnded) return;
    if (context.response.headersSent) {
      destroy(context.response);
      return;
    }
    try {
      sendError(context, fault, options);
    } catch (second) {
      log.error({ event: "error not sent", requestId: context.id, cause: stackOf(second) });
      destroy(context.response);
    }
  }

  function end(context: RequestContext, { observers }: LifecycleUse): void {
    inFlight--;
    // Probes, pages and health would fill the log.
    if (context.route?.isOpen) return;
    const summary = context.summary();
    for (const observe of observers) {
      try {
        observe(summary);
      } catch (fault) {
        log.error({ event: "observer failed", requestId: context.id, cause: stackOf(fault) });
      }
    }
  }

  return {
    listener: (use) => (request, response) => {
      inFlight++;
      const context = new RequestContext(request, response, {
        isDraining: options.isDraining,
        onEnd: () => end(context, use),
      });
      serve(context, use).catch((fault: unknown) => fail(context, fault));
    },
    get inFlight() {
      return inFlight;
    },
  };
}

function openRoute(kind: Route["kind"], path: string, methods: readonly string[]): Route {
  return { kind, path, methods, operation: NO_OPERATION, isOpen: true };
}

function rpcRoute(handler: UniversalHandler, operation: string): Route {
  const { requestPath: path, allowedMethods: methods } = handler;
  return { kind: "rpc", path, methods, operation, isOpen: operation === NO_OPERATION };
}

function wrongMethod({ method }: Request, { path, methods }: Route): ServiceError {
  const message = `The path ${path} supports ${methods.join(" and ")} but not ${method}.`;
  return new ServiceError("wrongMethod", message, { allow: [...methods, "OPTIONS"] });
}

function stackOf(fault: unknown): string {
  return fault instanceof Error ? (fault.stack ?? fault.message) : String(fault);
}
