import type { ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { FaceService, file_face_v1_face } from "../gen/ts/face/v1/face_pb.ts";
import { file_google_rpc_error_details } from "../gen/ts/google/rpc/error_details_pb.ts";
import { file_grpc_reflection_v1_reflection } from "../gen/ts/grpc/reflection/v1/reflection_pb.ts";
import { file_health_v1_health } from "../gen/ts/health/v1/health_pb.ts";
import type { Gate } from "./accounts/gate.ts";
import { createDoor, type Door, type Request, type Response } from "./admission.ts";
import type { Config } from "./config.ts";
import type { Pool } from "./core/index.ts";
import type { ImageFetcher } from "./fetch/image-fetcher.ts";
import { type Credentials, createClearPort, createTlsPort } from "./one-port.ts";
import { createHealth } from "./ops/health.ts";
import type { Log } from "./ops/log.ts";
import type { Metrics } from "./ops/metrics.ts";
import { answerMetrics } from "./ops/metrics-port.ts";
import { createReflection } from "./ops/reflection.ts";
import type { RequestObserver } from "./ops/request-end.ts";
import { isRpc } from "./paths.ts";
import { corsHeadersOf } from "./rest/cors.ts";
import { REQUEST_ID, requestIdFrom } from "./service/interceptors.ts";
import { httpAnswerFrom, ServiceError } from "./service/service-error.ts";
import { warmUp } from "./warm-up.ts";
import { openPages } from "./web/pages.ts";
import { createWires } from "./wires.ts";

/** What a server is made of. */
export interface ServerOptions {
  readonly config: Pick<
    Config,
    | "host"
    | "port"
    | "maxImageBytes"
    | "maxImagePixels"
    | "maxRequestBytes"
    | "requestTimeoutMs"
    | "corsOrigins"
    | "reflection"
    | "legacy"
    | "maxConnectionAgeMs"
    | "trustedProxies"
    | "web"
  >;
  readonly analyzer: Pool;
  readonly fetcher: ImageFetcher;
  /** Decides who is admitted. */
  readonly gate: Gate;
  readonly log: Log;
  /** Hear of every request that is over. */
  readonly observers: readonly RequestObserver[];
  /** Served at `/metrics`, unless they have a port of their own. */
  readonly metrics: Metrics | undefined;
  /** With these the port speaks TLS. */
  readonly credentials?: Credentials | undefined;
}

/** A running server. */
export interface RunningServer {
  readonly host: string;
  readonly port: number;
  /** Takes another certificate, where the port speaks TLS. */
  renew?(credentials: Credentials): void;
  /** How many connections are open. */
  connections(): { readonly http1: number; readonly http2: number };
  /** Says that it is no longer serving, but goes on for so long while balancers notice, then refuses what comes. */
  drain(noticeMs: number): Promise<void>;
  /** Takes no new connections, and waits for the answers under way, at most as long as a request may take. */
  close(): Promise<void>;
}

const HEADERS_TIMEOUT_MS = 10_000;

/** A few times as many as a worker serves in a second: to refuse them takes about a fortieth of a processor. */
const REFUSALS_PER_WORKER = 100;

/** Headers that pages in a browser may send and read. */
const CORS_HEADERS = {
  allow: [
    "user_id",
    "user_key",
    "content-type",
    "connect-protocol-version",
    "connect-timeout-ms",
    "grpc-timeout",
    "x-grpc-web",
    "x-user-agent",
    "x-request-id",
  ],
  expose: [
    "grpc-status",
    "grpc-message",
    "grpc-status-details-bin",
    "x-request-id",
    "x-visage-model",
    "x-visage-image",
    "retry-after",
    "ratelimit-limit",
    "ratelimit-remaining",
    "ratelimit-reset",
  ],
};

/** Serves the four operations over gRPC, gRPC-Web, Connect and plain HTTP, from one port. */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { config, analyzer, fetcher, gate, log, metrics } = options;
  let isDraining = false;
  // Clients of the original service know errors by the envelope alone, and another word for strangers.
  const httpStatus = (status: number) => (config.legacy ? 200 : status);
  const cors = { corsOrigins: config.corsOrigins, corsHeaders: CORS_HEADERS };
  const health = createHealth([FaceService.typeName]);
  const reflection = createReflection([
    file_face_v1_face,
    file_google_rpc_error_details,
    file_health_v1_health,
    file_grpc_reflection_v1_reflection,
  ]);
  const pages = config.web ? openPages(config) : undefined;
  const doorWith = (gate: Gate, observers: readonly RequestObserver[]) =>
    createDoor({
      gate,
      trustedProxies: config.trustedProxies,
      httpStatus,
      hasRoomFor: (user) => analyzer.hasRoomFor(user),
      refusalsPerSecond: REFUSALS_PER_WORKER * analyzer.size,
      isDraining: () => isDraining,
      onEnd: (end) => {
        for (const observe of observers) observe(end);
      },
    });
  const wires = createWires({
    analyzer,
    fetcher,
    timeoutMs: config.requestTimeoutMs,
    mismatch: config.legacy ? "no match" : "not a match",
    maxRequestBytes: config.maxRequestBytes,
    log,
    httpStatus,
    moreRoutes: (router) => {
      health.routes(router);
      if (config.reflection) reflection.routes(router);
    },
    ...cors,
  });

  const answerBehind = (enter: Door) => (request: Request, response: Response) => {
    // Set here for every answer, whoever gives it.
    const id = requestIdFrom(request.headers[REQUEST_ID]);
    request.headers[REQUEST_ID] = id;
    response.setHeader(REQUEST_ID, id);

    // Pages may read every answer, also a refusal; the preflight of a plain path is for REST to answer.
    const isPreflight = request.method === "OPTIONS" && isRpc(request);
    const headers = corsHeadersOf(request.headers, cors, isPreflight ? ["POST"] : undefined);
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    if (isPreflight) return void (response as ServerResponse).writeHead(204).end();
    if (metrics && request.url === "/metrics") return void answerMetrics(metrics, response as ServerResponse);
    if (request.url === "/healthz") return answerProbe(request, response, true);
    if (request.url === "/readyz") return answerProbe(request, response, health.serving);
    if (pages?.answer(request, response)) return;
    enter(request, response, (record) => wires(request, response, record));
  };
  const onRequest = answerBehind(doorWith(gate, options.observers));
  const limits = {
    idleTimeoutMs: 75_000,
    headersTimeoutMs: HEADERS_TIMEOUT_MS,
    // The time to send a request is not the time to answer it, and never shorter than that for its headers.
    requestTimeoutMs: Math.max(HEADERS_TIMEOUT_MS, config.requestTimeoutMs),
    maxHeaderBytes: 16 * 1024,
    maxConcurrentStreams: 128,
    maxConnectionAgeMs: config.maxConnectionAgeMs,
  };
  const { server, close, connections, renew } = options.credentials
    ? createTlsPort(onRequest, answerUnreadable, limits, options.credentials)
    : createClearPort(onRequest, answerUnreadable, limits);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(config.port, config.host, resolve);
  });
  const address = server.address() as AddressInfo;
  await warmUp({
    gate,
    answerWith: (ownGate) => answerBehind(doorWith(ownGate, [])),
    port: options.credentials ? undefined : address,
  });
  health.setServing(true);
  return {
    host: config.host,
    port: address.port,
    ...(renew && { renew }),
    connections,
    drain: async (noticeMs) => {
      health.setServing(false);
      await sleep(noticeMs);
      isDraining = true;
    },
    close: async () => {
      isDraining = true;
      health.close();
      await close(config.requestTimeoutMs);
    },
  };
}

function answerUnreadable(fault: "malformed" | "tooSlow" | "headersTooLarge") {
  const kinds = {
    malformed: "badRequest",
    tooSlow: "requestTooSlow",
    headersTooLarge: "headersTooLarge",
  } as const;
  const { status, body } = httpAnswerFrom(new ServiceError(kinds[fault]));
  return { status, headers: { [REQUEST_ID]: requestIdFrom(undefined) }, body: JSON.stringify(body) };
}

function answerProbe({ method }: Request, response: Response, isWell: boolean): void {
  const isRead = method === "GET" || method === "HEAD";
  const { status, body } = isRead
    ? { status: isWell ? 200 : 503, body: { status: isWell ? "ok" : "not ready" } }
    : httpAnswerFrom(new ServiceError("wrongMethod", "This path takes GET."));
  if (!isRead) response.setHeader("allow", "GET, HEAD");
  response.statusCode = status;
  response.setHeader("content-type", "application/json");
  (response as { end(text: string): void }).end(JSON.stringify(body));
}
