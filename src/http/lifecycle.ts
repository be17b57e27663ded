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
//   service    routes.ts           rest/ or rpc.ts, then sendResponse; a stream: stream-server.ts
//                                  |    `---> thrown by any stage -> fail -> sendError, in the caller's protocol
//   end        request-context.ts  onEnd      exactly once, also after a cancellation: frees the quota slot
//                                             and the budget; then log line, metrics, trace

import { reasonFromKind } from "../service/error-table.ts";
import type { Log } from "../telemetry/log.ts";
import type { RequestObserver } from "../telemetry/request-summary.ts";
import type { Admission } from "./admission.ts";
import type { CorsOrigins } from "./cors.ts";
import { createHeadRejection, requestErrorFrom, sendError } from "./errors.ts";
import { destroy, type RequestListener } from "./exchange.ts";
import { allowedMethods, readHead } from "./head.ts";
import type { HeadFault, HeadRejection } from "./http1-connections.ts";
import { RequestContext } from "./request-context.ts";
import { createRouter } from "./router.ts";
import { createRoutes, type RoutesOptions } from "./routes.ts";
import { sendResponse } from "./send-response.ts";
import type { Listener } from "./stream-server.ts";

/** What the edge serves, and its limits. */
export interface LifecycleOptions extends RoutesOptions {
  /** Whether requests are traced. */
  readonly isTraced: boolean;
  readonly corsOrigins: CorsOrigins;
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
  /** Makes the response to bytes that never became an HTTP/1.1 request. `url` is its target, if it is known. */
  rejectHead(fault: HeadFault, url: string | undefined): HeadRejection;
  /** The number of requests that have not ended. */
  readonly inFlight: number;
  /** The number of requests whose work has not ended. It may go on for a while after the client has left. */
  readonly running: number;
}

export function createLifecycle(options: LifecycleOptions): Lifecycle {
  const { log } = options;
  const apis = options.services.map(({ api }) => api);
  const router = createRouter(createRoutes(options));
  let inFlight = 0;
  let running = 0;

  async function serve(context: RequestContext, listener: Listener): Promise<void> {
    const { route, methods, target, isOptions } = readHead(context, router, options.corsOrigins);
    if (isOptions) {
      const allow = allowedMethods(methods).join(", ");
      return sendResponse(context, { status: 204, headers: { allow } });
    }
    if (route.access !== "open") await listener.admission.admit(context);
    await route.serve(context, listener, target);
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
      sendError(context, error, { log, apis });
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
    rejectHead: (fault, url) => createHeadRejection(fault, url, apis),
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
