import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { ConnectRouter } from "@connectrpc/connect";
import { FaceService, file_face_v1_face } from "../../gen/ts/face/v1/face_pb.ts";
import { file_google_rpc_error_details } from "../../gen/ts/google/rpc/error_details_pb.ts";
import { file_grpc_reflection_v1_reflection } from "../../gen/ts/grpc/reflection/v1/reflection_pb.ts";
import { file_health_v1_health } from "../../gen/ts/health/v1/health_pb.ts";
import type { Gate } from "../accounts/gate.ts";
import type { Config } from "../config.ts";
import type { ImageFetcher } from "../fetch/image-fetcher.ts";
import { createRestHandler } from "../rest/handler.ts";
import { createDirectTransport } from "../service/direct-transport.ts";
import { createFaceService } from "../service/face-service.ts";
import { recordOutcome, translateErrors } from "../service/interceptors.ts";
import { createReflection } from "../service/reflection.ts";
import { boxFromText, imageFromBytes, imageFromText } from "../service/texts.ts";
import { createHealth, type Health } from "../telemetry/health.ts";
import type { Log } from "../telemetry/log.ts";
import type { RequestObserver } from "../telemetry/request-end.ts";
import { openPages } from "../web/pages.ts";
import type { Pool } from "../workers/pool.ts";
import { createAdmission } from "./admission.ts";
import { ByteBudget } from "./byte-budget.ts";
import { type ConnectionRejection, Connections } from "./connections.ts";
import { headRejection } from "./errors.ts";
import type { Request, Response } from "./exchange.ts";
import { createLifecycle } from "./lifecycle.ts";
import { LIMITS } from "./limits.ts";
import { type Credentials, createClearPort, createTlsPort, type HeadFault, type Port } from "./port.ts";
import { warmUp } from "./warm-up.ts";
import { WatchLimiter } from "./watch-limiter.ts";

/** What a server is made of. */
export interface ServerOptions {
  readonly config: Pick<
    Config,
    | "host"
    | "port"
    | "maxImageBytes"
    | "maxImagePixels"
    | "maxRequestBytes"
    | "maxBodyBytesInFlight"
    | "maxQueueWaitMs"
    | "maxConnections"
    | "maxConnectionsPerAddress"
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
  readonly gate: Gate;
  readonly log: Log;
  /** Called for every request that has ended. */
  readonly observers: readonly RequestObserver[];
  /** With these the port speaks TLS. */
  readonly credentials?: Credentials | undefined;
}

/** What can be seen of a server from outside. */
export interface ServerStatus {
  /** Open connections. */
  readonly connections: { readonly http1: number; readonly http2: number };
  readonly requestsInFlight: number;
  /** Bytes of request bodies in memory. */
  readonly bodyBytes: number;
  /** Connections that were closed at once because too many were open. */
  readonly rejectedConnections: Readonly<Record<ConnectionRejection, number>>;
}

/** A running server. */
export interface RunningServer {
  readonly host: string;
  readonly port: number;
  /** Uses another certificate for new connections, where the port speaks TLS. */
  renew?(credentials: Credentials): void;
  status(): ServerStatus;
  /** Reports not ready, serves for `noticeMs` longer so that load balancers notice, then rejects new requests. */
  drain(noticeMs: number): Promise<void>;
  /** Accepts no more connections and waits for requests in flight, at most as long as a request may take. */
  close(): Promise<void>;
}

/** A few times what a worker serves in a second: rejecting them takes about a fortieth of a core. */
const REJECTIONS_PER_WORKER = 100;

/** How text becomes a message in plain HTTP. */
const TEXT_FORMS = {
  "face.v1.Image": { fromText: imageFromText, fromBytes: imageFromBytes },
  "face.v1.BoundingBox": { fromText: boxFromText },
};

/** Serves the operations over gRPC, gRPC-Web, Connect and plain HTTP, from one port. */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { config, analyzer, gate, log } = options;
  let isDraining = false;
  const health = createHealth([FaceService.typeName]);
  const budget = new ByteBudget({
    totalBytes: config.maxBodyBytesInFlight,
    maxWaitMs: config.maxQueueWaitMs,
  });
  const lifecycle = createLifecycle({
    ...servicesOf(options, health),
    pages: config.web ? openPages(config) : undefined,
    isReady: () => health.serving,
    isDraining: () => isDraining,
    watches: new WatchLimiter(),
    budget,
    maxRequestBytes: config.maxRequestBytes,
    timeoutMs: config.requestTimeoutMs,
    corsOrigins: config.corsOrigins,
    // Clients of the original service know errors by the envelope alone.
    httpStatus: (status) => (config.legacy ? 200 : status),
    log,
  });
  const listenerWith = (ownGate: Gate, observers: readonly RequestObserver[]) =>
    lifecycle.listener({
      observers,
      admit: createAdmission({
        gate: ownGate,
        trustedProxies: config.trustedProxies,
        budget,
        rejectionFor: (user) => analyzer.rejectionFor(user),
        rejectionsPerSecond: REJECTIONS_PER_WORKER * analyzer.size,
        isDraining: () => isDraining,
      }),
    });

  const rejectedConnections = { total: 0, address: 0 };
  const port = openPort(options, listenerWith(gate, options.observers), (reason) => {
    rejectedConnections[reason]++;
  });
  await new Promise<void>((resolve, reject) => {
    port.server.once("error", reject);
    port.server.listen(config.port, config.host, resolve);
  });
  const address = port.server.address() as AddressInfo;
  await warmUp({
    gate,
    answerWith: (ownGate) => listenerWith(ownGate, []),
    port: options.credentials ? undefined : address,
  });
  health.setServing(true);
  return {
    host: config.host,
    port: address.port,
    ...(port.renew && { renew: port.renew }),
    status: () => ({
      connections: port.connections(),
      requestsInFlight: lifecycle.inFlight,
      bodyBytes: budget.usedBytes,
      rejectedConnections,
    }),
    drain: async (noticeMs) => {
      health.setServing(false);
      await sleep(noticeMs);
      isDraining = true;
    },
    close: async () => {
      isDraining = true;
      health.close();
      await port.close(config.requestTimeoutMs);
    },
  };
}

/** The operations as RPCs and as plain HTTP, and the services that anyone may call. */
function servicesOf({ config, analyzer, fetcher, log }: ServerOptions, health: Health) {
  const interceptors = [recordOutcome, translateErrors(log)];
  const faces = createFaceService({
    analyzer,
    fetcher,
    timeoutMs: config.requestTimeoutMs,
    mismatch: config.legacy ? "no match" : "not a match",
  });
  const reflection = createReflection([
    file_face_v1_face,
    file_google_rpc_error_details,
    file_health_v1_health,
    file_grpc_reflection_v1_reflection,
  ]);
  return {
    interceptors,
    rest: createRestHandler({
      service: FaceService,
      transport: createDirectTransport(FaceService, faces, interceptors),
      textForms: TEXT_FORMS,
    }),
    rpcRoutes: (router: ConnectRouter) => {
      router.service(FaceService, faces);
    },
    openRpcRoutes: (router: ConnectRouter) => {
      health.routes(router);
      if (config.reflection) reflection.routes(router);
    },
  };
}

function openPort(
  { config, credentials, log }: ServerOptions,
  onRequest: (request: Request, response: Response) => void,
  onReject: (reason: ConnectionRejection) => void,
): Port {
  const limits = { total: config.maxConnections, perAddress: config.maxConnectionsPerAddress };
  const options = {
    onRequest,
    rejectHead: (fault: HeadFault) => {
      log.info({ event: "request rejected", fault });
      return headRejection(fault);
    },
    onSessionError: (fault: Error) => log.info({ event: "connection lost", cause: fault.message }),
    connections: new Connections(limits, config.trustedProxies, onReject),
    limits: { ...LIMITS, maxConnectionAgeMs: config.maxConnectionAgeMs },
  };
  return credentials ? createTlsPort(options, credentials) : createClearPort(options);
}
