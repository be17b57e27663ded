import type { ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Code, type ConnectRouter, createRouterTransport } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { FaceService, file_face_v1_face } from "../gen/ts/face/v1/face_pb.ts";
import { file_google_rpc_error_details } from "../gen/ts/google/rpc/error_details_pb.ts";
import { file_grpc_reflection_v1_reflection } from "../gen/ts/grpc/reflection/v1/reflection_pb.ts";
import { file_health_v1_health } from "../gen/ts/health/v1/health_pb.ts";
import { isSameId } from "./accounts/trial-user.ts";
import { type Request, type Response, refuse } from "./admission.ts";
import type { Config } from "./config.ts";
import type { Analyzer } from "./core/index.ts";
import { explainEarlyErrors } from "./early-errors.ts";
import type { ImageFetcher } from "./fetch/image-fetcher.ts";
import { type Credentials, createClearPort, createTlsPort } from "./one-port.ts";
import { createHealth } from "./ops/health.ts";
import type { Log } from "./ops/log.ts";
import { createReflection } from "./ops/reflection.ts";
import { corsHeadersOf } from "./rest/cors.ts";
import { createRestHandler } from "./rest/handler.ts";
import { RestError } from "./rest/rest-error.ts";
import { reasonOf } from "./service/error-table.ts";
import { createFaceService } from "./service/face-service.ts";
import {
  logRequests,
  REQUEST_ID,
  requestId,
  requestIdFrom,
  translateErrors,
} from "./service/interceptors.ts";
import { connectErrorFrom, httpAnswerFrom, ServiceError, serviceErrorFrom } from "./service/service-error.ts";
import { boxFromText, imageFromBytes, imageFromText } from "./service/texts.ts";

/** What a server is made of. */
export interface ServerOptions {
  readonly config: Pick<
    Config,
    | "host"
    | "port"
    | "maxRequestBytes"
    | "requestTimeoutMs"
    | "corsOrigins"
    | "reflection"
    | "legacy"
    | "maxConnectionAgeMs"
  >;
  readonly analyzer: Analyzer;
  readonly fetcher: ImageFetcher;
  /** The one user id that is admitted. */
  readonly userId: string;
  readonly log: Log;
  /** With these the port speaks TLS. */
  readonly credentials?: Credentials | undefined;
}

/** A running server. */
export interface RunningServer {
  readonly host: string;
  readonly port: number;
  /** Takes another certificate, where the port speaks TLS. */
  renew?(credentials: Credentials): void;
  /** Says that it is no longer serving, takes no new connections, and waits for the answers under way. */
  close(): Promise<void>;
}

/** Paths that need no user id: they tell nothing about anyone. */
const OPEN_PATHS = ["/grpc.health.v1.Health/", "/grpc.reflection.", "/healthz", "/readyz"];

const HEADERS_TIMEOUT_MS = 10_000;

const TEXT_FORMS = {
  "face.v1.Image": { fromText: imageFromText, fromBytes: imageFromBytes },
  "face.v1.BoundingBox": { fromText: boxFromText },
};

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
    "retry-after",
  ],
};

/** Serves the four operations over gRPC, gRPC-Web, Connect and plain HTTP, from one port. */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { config, analyzer, fetcher, userId, log } = options;
  const interceptors = [requestId, logRequests(log), translateErrors(log)];
  // Clients of the original service know errors by the envelope alone, and another word for strangers.
  const httpStatus = (status: number) => (config.legacy ? 200 : status);
  const faces = createFaceService({
    analyzer,
    fetcher,
    timeoutMs: config.requestTimeoutMs,
    mismatch: config.legacy ? "no match" : "not a match",
  });
  const health = createHealth([FaceService.typeName]);
  const reflection = createReflection([
    file_face_v1_face,
    file_google_rpc_error_details,
    file_health_v1_health,
    file_grpc_reflection_v1_reflection,
  ]);
  const faceRoutes = (router: ConnectRouter) => router.service(FaceService, faces);

  const corsOptions = { corsOrigins: config.corsOrigins, corsHeaders: CORS_HEADERS };
  const rest = createRestHandler({
    service: FaceService,
    transport: createRouterTransport(faceRoutes, { router: { interceptors } }),
    textForms: TEXT_FORMS,
    maxRequestBytes: config.maxRequestBytes,
    answerError: (fault) => {
      const answer = httpAnswerFrom(fault instanceof RestError ? serviceErrorOf(fault) : fault);
      return { ...answer, status: httpStatus(answer.status) };
    },
    ...corsOptions,
  });
  const rpc = connectNodeAdapter({
    routes: (router) => {
      faceRoutes(router);
      explainEarlyErrors(router, (error, operation, { header }) => {
        // Nothing of ours has run: what Connect takes for a fault of the server's is a body it cannot parse.
        const isFault = error.code === Code.Internal;
        const told = isFault ? new ServiceError("badRequest") : serviceErrorFrom(error);
        log.info({ requestId: header.get(REQUEST_ID), operation, outcome: reasonOf(told.kind) });
        return connectErrorFrom(told);
      });
      health.routes(router);
      if (config.reflection) reflection.routes(router);
    },
    interceptors,
    readMaxBytes: config.maxRequestBytes,
    fallback: (request, response) => {
      const isProbe = request.url === "/healthz" || request.url === "/readyz";
      if (isProbe) answerProbe(response as Response, request.url === "/healthz" || health.serving);
      else void rest(request as never, response as never);
    },
  });

  const onRequest = (request: Request, response: Response) => {
    // Set here, so that answers which never reach an interceptor have it too.
    const id = requestIdFrom(request.headers[REQUEST_ID]);
    request.headers[REQUEST_ID] = id;
    response.setHeader(REQUEST_ID, id);

    // Pages may read every answer, also a refusal; the preflight of a path of ours is for REST to answer.
    const isPreflight = request.method === "OPTIONS" && isRpc(request);
    const cors = corsHeadersOf(request.headers, corsOptions, isPreflight ? ["POST"] : undefined);
    for (const [name, value] of Object.entries(cors)) response.setHeader(name, value);
    if (isPreflight) return void (response as ServerResponse).writeHead(204).end();
    const refusal = refusalOf(request, userId);
    if (refusal) refuse(request, response, refusal, isRpc(request), httpStatus);
    else rpc(request as never, response as never);
  };
  const limits = {
    idleTimeoutMs: 75_000,
    headersTimeoutMs: HEADERS_TIMEOUT_MS,
    // The time to send a request is not the time to answer it, and never shorter than that for its headers.
    requestTimeoutMs: Math.max(HEADERS_TIMEOUT_MS, config.requestTimeoutMs),
    maxHeaderBytes: 16 * 1024,
    maxConcurrentStreams: 128,
    maxConnectionAgeMs: config.maxConnectionAgeMs,
  };
  const { server, close, renew } = options.credentials
    ? createTlsPort(onRequest, answerUnreadable, limits, options.credentials)
    : createClearPort(onRequest, answerUnreadable, limits);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(config.port, config.host, resolve);
  });
  health.setServing(true);
  return {
    host: config.host,
    port: (server.address() as AddressInfo).port,
    ...(renew && { renew }),
    close: async () => {
      health.setServing(false);
      health.close();
      await close();
    },
  };
}

function answerUnreadable(fault: "malformed" | "tooSlow" | "headersTooLarge") {
  const kinds = {
    malformed: "badRequest",
    tooSlow: "requestTooSlow",
    headersTooLarge: "requestTooLarge",
  } as const;
  const { status, body } = httpAnswerFrom(new ServiceError(kinds[fault]));
  return { status, headers: { [REQUEST_ID]: requestIdFrom(undefined) }, body: JSON.stringify(body) };
}

function refusalOf(request: Request, userId: string): ServiceError | undefined {
  const path = request.url ?? "";
  if (request.method === "OPTIONS" || OPEN_PATHS.some((open) => path.startsWith(open))) return undefined;
  const given = request.headers.user_id;
  if (typeof given !== "string" || given === "") return new ServiceError("noUserId");
  return isSameId(given, userId) ? undefined : new ServiceError("unknownUser");
}

function isRpc({ url = "" }: Request): boolean {
  return url.startsWith(`/${FaceService.typeName}/`);
}

function answerProbe(response: Response, isWell: boolean): void {
  response.statusCode = isWell ? 200 : 503;
  response.setHeader("content-type", "application/json");
  (response as { end(text: string): void }).end(JSON.stringify({ status: isWell ? "ok" : "not ready" }));
}

function serviceErrorOf({ kind, message, field }: RestError): ServiceError {
  const kinds = {
    badRequest: "badRequest",
    unsupportedType: "badRequest",
    tooLarge: "requestTooLarge",
    noSuchPath: "noSuchPath",
    wrongMethod: "wrongMethod",
  } as const;
  return new ServiceError(kinds[kind], message, { field });
}
