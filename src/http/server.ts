import { setMaxListeners } from "node:events";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { FaceService } from "../../gen/ts/face/v1/face_pb.ts";
import { AccountService } from "../../gen/ts/visage/v1/account_pb.ts";
import { AdminService } from "../../gen/ts/visage/v1/admin_pb.ts";
import { FaceAnalysisService } from "../../gen/ts/visage/v1/face_analysis_pb.ts";
import { GalleryService } from "../../gen/ts/visage/v1/gallery_pb.ts";
import { createAdminAuthenticator } from "../accounts/admin-authenticator.ts";
import type { Authenticator } from "../accounts/authenticator.ts";
import type { AccountServiceOptions } from "../service/account-service.ts";
import type { FaceAnalysisOptions } from "../service/face-analysis-service.ts";
import type { FaceServiceOptions } from "../service/face-service.ts";
import type { GalleryServiceOptions } from "../service/gallery-call.ts";
import { createHealth } from "../telemetry/health.ts";
import type { Log } from "../telemetry/log.ts";
import type { RequestObserver } from "../telemetry/request-summary.ts";
import { openPages } from "../web/pages.ts";
import { type AdmissionOptions, createAdmission } from "./admission.ts";
import { ByteBudget } from "./byte-budget.ts";
import type { TrustedProxies } from "./client-address.ts";
import { type ConnectionRejection, Connections } from "./connections.ts";
import type { CorsOrigins } from "./cors.ts";
import { createHeadRejection } from "./errors.ts";
import type { RequestListener } from "./exchange.ts";
import type { HeadFault } from "./http1-connections.ts";
import { createLifecycle } from "./lifecycle.ts";
import { LIMITS } from "./limits.ts";
import { createListenError } from "./listen-error.ts";
import { OpenRpcLimiter } from "./open-rpc-limiter.ts";
import { createClearPort, createTlsPort, type Port } from "./port.ts";
import { createServices } from "./services.ts";
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
  /** How many of the galleries that were searched last are in memory before the service is ready. */
  readonly readyGalleries: number;
  /** Key of the operator; undefined to switch AdminService off. */
  readonly adminKey: string | undefined;
  readonly trustedProxies: TrustedProxies;
  /** URL of a trace collector; undefined if requests are not traced. */
  readonly tracesEndpoint: string | undefined;
  /** Whether to answer like the original service over REST (docs/legacy.md). */
  readonly legacy: boolean;
  /** Whether gRPC reflection is served. */
  readonly reflection: boolean;
  /** Whether the web pages are served. */
  readonly web: boolean;
}

/** The worker pool as the server sees it. */
export type ServerAnalyzer = FaceServiceOptions["analyzer"] & {
  /** The number of workers. */
  readonly size: number;
  readonly rejectionFor: AdmissionOptions["rejectionFor"];
};

/** Options of a server. */
export interface ServerOptions {
  readonly config: ServerConfig;
  readonly analyzer: ServerAnalyzer;
  readonly fetcher: FaceServiceOptions["fetcher"];
  readonly authenticator: Authenticator;
  /** The rate of false matches of the analyzer's model. */
  readonly rates: FaceAnalysisOptions["rates"];
  readonly galleries: GalleryServiceOptions["galleries"];
  readonly searcher: GalleryServiceOptions["searcher"];
  readonly accounts: AccountServiceOptions["store"];
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
  const { config, analyzer, fetcher, authenticator, log } = options;
  const draining = new AbortController();
  // Every open stream listens. Node would take more than ten for a leak and warn.
  setMaxListeners(0, draining.signal);
  const adminAuthenticator =
    config.adminKey === undefined ? undefined : createAdminAuthenticator(config.adminKey);
  const services = [FaceService, FaceAnalysisService, GalleryService, AccountService];
  const health = createHealth(
    [...services, ...(adminAuthenticator ? [AdminService] : [])].map(({ typeName }) => typeName),
  );
  const budget = new ByteBudget({
    totalBytes: config.maxBodyBytesInFlight,
    maxWaitMs: config.maxQueueWaitMs,
  });
  const lifecycle = createLifecycle({
    ...createServices({
      analyzer,
      fetcher,
      rates: options.rates,
      galleries: options.galleries,
      searcher: options.searcher,
      accounts: options.accounts,
      hasAdmin: adminAuthenticator !== undefined,
      health,
      timeoutMs: config.requestTimeoutMs,
      isLegacy: config.legacy,
      hasReflection: config.reflection,
      log,
    }),
    pages: config.web ? openPages(config) : undefined,
    isReady: () => health.serving,
    draining: draining.signal,
    isTraced: config.tracesEndpoint !== undefined,
    streamWindow: Math.min(LIMITS.streamImages, LIMITS.streamImagesPerWorker * analyzer.size),
    openRpcLimiter: new OpenRpcLimiter(config.trustedProxies),
    budget,
    maxRequestBytes: config.maxRequestBytes,
    timeoutMs: config.requestTimeoutMs,
    corsOrigins: config.corsOrigins,
    isLegacy: config.legacy,
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
        rejectionFor: (user) => analyzer.rejectionFor(user),
        rejectionsPerSecond: REJECTIONS_PER_WORKER * analyzer.size,
        isDraining: () => draining.signal.aborted,
      }),
    });

  const rejectedConnections = { total: 0, address: 0, resets: 0 };
  const port = openPort(options, createListener(authenticator, options.observers), (reason) => {
    rejectedConnections[reason]++;
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
  });
  if (config.readyGalleries > 0)
    // The first searches would wait for them. If they cannot be read now, searches try again.
    await options.searcher
      .preload(config.readyGalleries, draining.signal)
      .catch((error: unknown) => log.warn({ event: "galleries not read", cause: String(error) }));
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

function openPort(
  { config, credentials, log }: ServerOptions,
  onRequest: RequestListener,
  onReject: (reason: ConnectionRejection) => void,
): Port {
  const limits = { total: config.maxConnections, perAddress: config.maxConnectionsPerAddress };
  const options = {
    onRequest,
    rejectHead: (fault: HeadFault, url: string | undefined) => {
      log.info({ event: "request rejected", fault });
      return createHeadRejection(fault, url);
    },
    onSessionError: (error: Error) => log.info({ event: "connection lost", cause: error.message }),
    connections: new Connections(limits, config.trustedProxies, onReject),
    limits: { ...LIMITS, maxConnectionAgeMs: config.maxConnectionAgeMs },
  };
  return credentials ? createTlsPort(options, credentials) : createClearPort(options);
}
