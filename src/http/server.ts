import { setMaxListeners } from "node:events";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { DescMethod } from "@bufbuild/protobuf";
import { file_google_rpc_error_details } from "../../gen/ts/google/rpc/error_details_pb.ts";
import { file_grpc_health_v1_health } from "../../gen/ts/grpc/health/v1/health_pb.ts";
import { file_grpc_reflection_v1_reflection } from "../../gen/ts/grpc/reflection/v1/reflection_pb.ts";
import { createAdminAuthenticator } from "../accounts/admin-authenticator.ts";
import type { Authenticator } from "../accounts/authenticator.ts";
import type { Permission } from "../permissions.ts";
import { isSwitchedOff, needsOfMethod } from "../service/method-permissions.ts";
import { createReflection } from "../service/reflection.ts";
import { createHealth } from "../telemetry/health.ts";
import type { Log } from "../telemetry/log.ts";
import type { RequestObserver } from "../telemetry/request-summary.ts";
import { openPages } from "../web/pages.ts";
import { type AdmissionOptions, createAdmission } from "./admission.ts";
import { ByteBudget } from "./byte-budget.ts";
import type { TrustedProxies } from "./client-address.ts";
import { type ConnectionRejection, Connections } from "./connections.ts";
import type { CorsOrigins } from "./cors.ts";
import type { RequestListener } from "./exchange.ts";
import { createLifecycle, type Lifecycle } from "./lifecycle.ts";
import { LIMITS } from "./limits.ts";
import { createListenError } from "./listen-error.ts";
import { OpenRpcLimiter } from "./open-rpc-limiter.ts";
import { createClearPort, createTlsPort, type Port } from "./port.ts";
import type { ServedService } from "./served-service.ts";
import type { TlsCredentials } from "./tls-credentials.ts";
import { warmUp } from "./warm-up.ts";

/** The settings that a server needs; the service's configuration has them all. */
export interface ServerConfig {
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  readonly maxImageBytes: number;
  readonly maxImagePixels: number;
  readonly imageFormats: readonly string[];
  readonly maxRequestBytes: number;
  readonly maxBodyBytesInFlight: number;
  readonly maxQueueWaitMs: number;
  readonly maxConnections: number;
  readonly maxConnectionsPerAddress: number;
  readonly maxConnectionAgeMs: number;
  readonly requestTimeoutMs: number;
  readonly corsOrigins: CorsOrigins;
  /** Key of the operator; undefined to switch AdminService off. */
  readonly adminKey: string | undefined;
  readonly trustedProxies: TrustedProxies;
  /** URL of a trace collector; undefined if requests are not traced. */
  readonly tracesEndpoint: string | undefined;
  /** What is switched off for everybody. */
  readonly off: readonly Permission[];
  /** Whether gRPC reflection is served. */
  readonly reflection: boolean;
  /** Whether the web pages are served. */
  readonly web: boolean;
}

/** Options of a server. */
export interface ServerOptions {
  readonly config: ServerConfig;
  readonly services: readonly ServedService[];
  /** The worker pool, for which requests are admitted. */
  readonly pool: Pick<AdmissionOptions, "rejectionFor"> & { readonly size: number };
  readonly authenticator: Authenticator;
  /** Awaited before the service is ready. The signal is aborted when it shuts down. */
  readonly prepare: (draining: AbortSignal) => Promise<void>;
  /** An image with a face, for the warm-up. */
  readonly warmUpImage: Uint8Array;
  readonly log: Log;
  /** Called for every request that has ended. */
  readonly observers: readonly RequestObserver[];
  /** With these the port speaks TLS. */
  readonly credentials?: TlsCredentials | undefined;
}

/** The state of a server, for metrics. */
export interface ServerStatus {
  /** Open connections. */
  readonly connections: { readonly http1: number; readonly http2: number };
  readonly requestsInFlight: number;
  /** Requests whose work has not ended, although their clients may have left. */
  readonly requestsRunning: number;
  /** Bytes of request bodies in memory. */
  readonly bodyBytes: number;
  /** Connections that were closed at once because too many were open. */
  readonly rejectedConnections: Readonly<Record<ConnectionRejection, number>>;
}

/** A running server. */
export interface RunningServer {
  readonly host: string;
  readonly port: number;
  /** Uses other credentials for new connections. Only a server with TLS has this method. */
  renew?(credentials: TlsCredentials): void;
  status(): ServerStatus;
  /** Reports not ready, serves for `noticeMs` longer so that load balancers notice, then rejects new requests. */
  drain(noticeMs: number): Promise<void>;
  /** Accepts no more connections and waits for requests in flight, at most as long as a request may take. */
  close(): Promise<void>;
}

/** A few times what a worker serves in a second: rejecting as many takes about a fortieth of a core. */
const REJECTIONS_PER_WORKER = 100;

/** Serves the operations over gRPC, gRPC-Web, Connect and REST on one port. */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { config, services, pool, authenticator, log } = options;
  const draining = new AbortController();
  // Every open stream listens. Node would take more than ten for a leak and warn.
  setMaxListeners(0, draining.signal);
  const adminAuthenticator =
    config.adminKey === undefined ? undefined : createAdminAuthenticator(config.adminKey);
  const health = createHealth(services.map(({ service }) => service.typeName));
  const methods = services.flatMap(({ service }) => service.methods);
  const reflection = createReflection(
    [
      ...services.map(({ service }) => service.file),
      file_google_rpc_error_details,
      file_grpc_health_v1_health,
      file_grpc_reflection_v1_reflection,
    ],
    methods.filter((method) => isSwitchedOff(method, config.off)),
  );
  const budget = new ByteBudget({
    totalBytes: config.maxBodyBytesInFlight,
    maxWaitMs: config.maxQueueWaitMs,
  });
  const lifecycle = createLifecycle({
    services,
    openRpcRoutes: (router) => {
      health.routes(router);
      if (config.reflection) reflection.routes(router);
    },
    pages: config.web ? openPages({ ...config, needs: needsByOperation(methods) }) : undefined,
    isReady: () => health.serving,
    draining: draining.signal,
    isTraced: config.tracesEndpoint !== undefined,
    streamWindow: Math.min(LIMITS.streamImages, LIMITS.streamImagesPerWorker * pool.size),
    openRpcLimiter: new OpenRpcLimiter(config.trustedProxies),
    budget,
    maxRequestBytes: config.maxRequestBytes,
    timeoutMs: config.requestTimeoutMs,
    corsOrigins: config.corsOrigins,
    log,
  });
  const createListener = (listenerAuthenticator: Authenticator, observers: readonly RequestObserver[]) =>
    lifecycle.createListener({
      observers,
      admission: createAdmission({
        authenticator: listenerAuthenticator,
        adminAuthenticator,
        trustedProxies: config.trustedProxies,
        budget,
        rejectionFor: (user) => pool.rejectionFor(user),
        rejectionsPerSecond: REJECTIONS_PER_WORKER * pool.size,
        isDraining: () => draining.signal.aborted,
      }),
    });

  const rejectedConnections = { total: 0, address: 0, resets: 0 };
  const port = openPort(options, {
    onRequest: createListener(authenticator, options.observers),
    rejectHead: (fault, url) => {
      log.info({ event: "request rejected", fault });
      return lifecycle.rejectHead(fault, url);
    },
    onReject: (reason) => {
      rejectedConnections[reason]++;
    },
  });
  await new Promise<void>((resolve, reject) => {
    const listenAddress = { ...config, settings: "VISAGE_HOST and VISAGE_PORT" };
    port.server.once("error", (error) => reject(createListenError("The service", listenAddress, error)));
    port.server.listen(config.port, config.host, resolve);
  });
  const address = port.server.address() as AddressInfo;
  await warmUp({
    authenticator,
    createListener: (warmUpAuthenticator) => createListener(warmUpAuthenticator, []),
    port: options.credentials ? undefined : address,
    image: options.warmUpImage,
    off: config.off,
  });
  await options.prepare(draining.signal);
  health.setServing(true);
  return {
    host: config.host,
    port: address.port,
    ...(port.renew && { renew: port.renew }),
    status: () => ({
      connections: port.connections(),
      requestsInFlight: lifecycle.inFlight,
      requestsRunning: lifecycle.running,
      bodyBytes: budget.usedBytes,
      rejectedConnections,
    }),
    drain: async (noticeMs) => {
      health.setServing(false);
      await sleep(noticeMs);
      draining.abort();
    },
    close: async () => {
      draining.abort();
      health.close();
      await port.close(config.requestTimeoutMs);
    },
  };
}

/** What the methods need, by their ids in the OpenAPI document. */
function needsByOperation(methods: readonly DescMethod[]): Readonly<Record<string, readonly Permission[]>> {
  return Object.fromEntries(methods.map((method) => [operationId(method), needsOfMethod(method)]));
}

/** The id of a method in the OpenAPI document. */
function operationId({ parent, name, localName }: DescMethod): string {
  return parent.file.name.startsWith("face/") ? localName : `v1${name}`;
}

/** What a port does with requests, and with connections and heads that it rejects. */
interface PortHandlers {
  readonly onRequest: RequestListener;
  readonly rejectHead: Lifecycle["rejectHead"];
  readonly onReject: (reason: ConnectionRejection) => void;
}

function openPort(
  { config, credentials, log }: ServerOptions,
  { onRequest, rejectHead, onReject }: PortHandlers,
): Port {
  const limits = { total: config.maxConnections, perAddress: config.maxConnectionsPerAddress };
  const options = {
    onRequest,
    rejectHead,
    onSessionError: (error: Error) => log.info({ event: "connection lost", cause: error.message }),
    connections: new Connections(limits, config.trustedProxies, onReject),
    limits: { ...LIMITS, maxConnectionAgeMs: config.maxConnectionAgeMs },
  };
  return credentials ? createTlsPort(options, credentials) : createClearPort(options);
}
