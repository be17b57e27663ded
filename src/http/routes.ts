import type { DescMethod } from "@bufbuild/protobuf";
import type { UniversalHandler } from "@connectrpc/connect/protocol";
import { type RestHandler, requireIdentityEncoding } from "../rest/handler.ts";
import { type Route as RestRoute, readStreamRoute } from "../rest/routes.ts";
import { contextValuesWith } from "../service/request-record.ts";
import type { Pages } from "../web/pages.ts";
import { type Body, readBody } from "./body.ts";
import type { ByteBudget } from "./byte-budget.ts";
import { clientTimeoutMs } from "./client-timeout.ts";
import { sendContinue } from "./exchange.ts";
import { LIMITS } from "./limits.ts";
import type { OpenRpcLimiter } from "./open-rpc-limiter.ts";
import type { RequestContext } from "./request-context.ts";
import { NO_OPERATION, type Route, type Target } from "./route.ts";
import { createOpenRpcHandlers, createRpcHandlers, type RpcRoutes, serveUnary } from "./rpc.ts";
import { sendResponse } from "./send-response.ts";
import type { ServedService } from "./served-service.ts";
import { createStreamServer, type Listener } from "./stream-server.ts";

/** A route with what serves its requests. They have been admitted, unless the route is open. */
export interface ServedRoute extends Route {
  serve(context: RequestContext, listener: Listener, target: Target): Promise<void> | void;
}

/** What is served, and its limits. */
export interface RoutesOptions {
  readonly services: readonly ServedService[];
  readonly openRpcRoutes: RpcRoutes;
  /** The web pages; undefined if they are switched off. */
  readonly pages: Pages | undefined;
  /** Whether the service is ready for requests. */
  readonly isReady: () => boolean;
  /** Aborted when the service shuts down. */
  readonly draining: AbortSignal;
  /** How many items of one stream may be in progress at the same time. */
  readonly streamWindow: number;
  readonly openRpcLimiter: OpenRpcLimiter;
  readonly budget: ByteBudget;
  readonly maxRequestBytes: number;
  /** For an operation, from the end of its body. */
  readonly timeoutMs: number;
}

const PROBE_PATHS = ["/healthz", "/readyz"];
const READ_METHODS = ["GET", "HEAD"];

/** A route that anyone may call. */
const OPEN = { operation: NO_OPERATION, access: "open", isStream: false } as const;
/** A resource that anyone may read. */
const READABLE = { ...OPEN, methods: READ_METHODS, isRpc: false } as const;

/** Creates the routes of all paths: probes, pages, open RPCs, and the services as RPCs, over REST and as lines. */
export function createRoutes(options: RoutesOptions): readonly ServedRoute[] {
  const { services, pages, budget, maxRequestBytes, timeoutMs } = options;
  const streams = createStreamServer(options);

  function serveProbe(context: RequestContext, path: string): void {
    const isOk = path === "/healthz" || options.isReady();
    sendResponse(context, {
      status: isOk ? 200 : 503,
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ status: isOk ? "ok" : "not ready" }),
    });
  }

  async function serveRpc(context: RequestContext, handler: UniversalHandler): Promise<void> {
    const clientMs = clientTimeoutMs(context.request.headers);
    if (clientMs !== undefined) context.deadlineMs = context.startMs + clientMs;
    const body = await receiveBody(context);
    await serveUnary(context, handler, body, { maxBytes: maxRequestBytes, timeoutMs });
  }

  async function serveRest(
    context: RequestContext,
    handler: RestHandler,
    route: RestRoute,
    { variables, query }: Target,
  ): Promise<void> {
    const { request, signal } = context;
    const { headers } = request;
    requireIdentityEncoding(headers);
    const { bytes: body, lease } = await receiveBody(context);
    lease.complete();
    context.expireAfter(timeoutMs);
    const values = contextValuesWith(context.record);
    const result = await handler.call(route, { variables, query, headers, body, signal, timeoutMs, values });
    sendResponse(context, {
      status: 200,
      headers: { ...result.headers, "content-type": "application/json" },
      body: JSON.stringify(result.body),
    });
  }

  function receiveBody(context: RequestContext): Promise<Body> {
    sendContinue(context.request, context.response);
    return readBody(context, {
      maxBytes: maxRequestBytes,
      budget,
      // Never shorter than the time for the head.
      timeoutMs: Math.max(LIMITS.headMs, timeoutMs),
    });
  }

  const probes = PROBE_PATHS.map(
    (path): ServedRoute => ({
      ...READABLE,
      path,
      serve: (context) => serveProbe(context, path),
    }),
  );
  const pageRoutes = (pages?.paths ?? []).map(
    (path): ServedRoute => ({
      ...READABLE,
      path,
      serve: (context) => sendResponse(context, pages!.respond(path, context.request.headers)),
    }),
  );
  const openRpcs = createOpenRpcHandlers(options.openRpcRoutes).map(
    (handler): ServedRoute => ({
      ...OPEN,
      path: handler.requestPath,
      methods: handler.allowedMethods,
      isRpc: true,
      serve: (context) => streams.serveOpen(context, handler),
    }),
  );

  function* routesOf(served: ServedService): Generator<ServedRoute> {
    const handlers = createRpcHandlers(served.rpcRoutes, maxRequestBytes);
    for (const handler of handlers)
      yield {
        ...operationOf(served, handler.method),
        path: handler.requestPath,
        methods: handler.allowedMethods,
        isRpc: true,
        serve:
          handler.method.methodKind === "unary"
            ? (context) => serveRpc(context, handler)
            : (context, listener) => streams.serveRpc(context, listener, handler),
      };
    for (const route of served.rest.routes)
      yield {
        ...operationOf(served, route.method),
        path: route.path,
        methods: [route.verb],
        isRpc: false,
        serve: (context, _, target) => serveRest(context, served.rest, route, target),
      };
    for (const lines of served.lines) {
      const { verb, path } = readStreamRoute(lines.method);
      yield {
        ...operationOf(served, lines.method),
        path,
        methods: [verb],
        isRpc: false,
        serve: (context, listener, target) => streams.serveLines(context, listener, lines, target),
      };
    }
  }

  return [...probes, ...pageRoutes, ...openRpcs, ...services.flatMap((served) => [...routesOf(served)])];
}

/** What the routes of a method have in common. Its operation is named `analyze_image` after the prefix of its API. */
function operationOf(
  { api, access }: ServedService,
  { name, methodKind }: DescMethod,
): Pick<Route, "operation" | "access" | "isStream"> {
  const snakeCase = name.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => `_${letter}`).toLowerCase();
  return { operation: `${api.operationPrefix}${snakeCase}`, access, isStream: methodKind !== "unary" };
}
