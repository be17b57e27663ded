import type { ConnectRouter } from "@connectrpc/connect";
import { FaceService, file_face_v1_face } from "../../gen/ts/face/v1/face_pb.ts";
import { file_google_rpc_error_details } from "../../gen/ts/google/rpc/error_details_pb.ts";
import { file_grpc_health_v1_health } from "../../gen/ts/grpc/health/v1/health_pb.ts";
import { file_grpc_reflection_v1_reflection } from "../../gen/ts/grpc/reflection/v1/reflection_pb.ts";
import { AccountService, file_visage_v1_account } from "../../gen/ts/visage/v1/account_pb.ts";
import { AdminService, file_visage_v1_admin } from "../../gen/ts/visage/v1/admin_pb.ts";
import {
  FaceAnalysisService,
  file_visage_v1_face_analysis,
} from "../../gen/ts/visage/v1/face_analysis_pb.ts";
import { file_visage_v1_gallery, GalleryService } from "../../gen/ts/visage/v1/gallery_pb.ts";
import { createRestHandler, type RestOptions } from "../rest/handler.ts";
import { RestError } from "../rest/rest-error.ts";
import type { TextParsers } from "../rest/text-parser.ts";
import { type AccountServiceOptions, createAccountService } from "../service/account-service.ts";
import { createAdminService } from "../service/admin-service.ts";
import type { AuditEntry } from "../service/audit.ts";
import { createDirectTransport } from "../service/direct-transport.ts";
import {
  createFaceAnalysisService,
  createItemAnalyzer,
  type FaceAnalysisOptions,
} from "../service/face-analysis-service.ts";
import { createFaceService, type FaceServiceOptions } from "../service/face-service.ts";
import {
  createFirstGenerationWriter,
  FIRST_GENERATION_CONFIDENCE_DECIMALS,
} from "../service/first-generation.ts";
import type { GalleryServiceOptions } from "../service/gallery-call.ts";
import { createGalleryService } from "../service/gallery-service.ts";
import { recordOutcome, translateErrors } from "../service/interceptors.ts";
import { recheckCaller } from "../service/recheck-caller.ts";
import { createReflection } from "../service/reflection.ts";
import { ServiceError } from "../service/service-error.ts";
import { TEXT_PARSERS } from "../service/text-parsers.ts";
import type { Health } from "../telemetry/health.ts";
import type { Log } from "../telemetry/log.ts";
import { createJsonLines } from "./json-lines.ts";
import type { LifecycleOptions } from "./lifecycle.ts";
import { LIMITS } from "./limits.ts";
import { createRequestLines, createResponseLines } from "./one-way-lines.ts";

/** Options of the services. */
export interface ServicesOptions extends Pick<FaceServiceOptions, "analyzer" | "fetcher"> {
  readonly rates: FaceAnalysisOptions["rates"];
  readonly galleries: GalleryServiceOptions["galleries"];
  readonly searcher: GalleryServiceOptions["searcher"];
  readonly accounts: AccountServiceOptions["store"];
  /** Whether AdminService is served. */
  readonly hasAdmin: boolean;
  readonly health: Health;
  /** The longest that an operation may take. */
  readonly timeoutMs: number;
  /** Answer like the original service. */
  readonly isLegacy: boolean;
  /** Whether gRPC clients may ask for the descriptors. */
  readonly hasReflection: boolean;
  readonly log: Log;
}

/** The parsers of text and files over REST. They throw RestError, to which the REST handler adds the field. */
const REST_PARSERS = Object.fromEntries(
  Object.entries<TextParsers[string]>(TEXT_PARSERS).map(([type, parser]) => [
    type,
    { ...parser, fromText: (text: never) => orRestError(() => parser.fromText(text)) },
  ]),
) as TextParsers;

function orRestError<T>(parse: () => T | Promise<T>): T | Promise<T> {
  try {
    const message = parse();
    return message instanceof Promise ? message.catch(throwRestError) : message;
  } catch (fault) {
    return throwRestError(fault);
  }
}

function throwRestError(fault: unknown): never {
  if (!(fault instanceof ServiceError)) throw fault;
  const { kind, message } = fault;
  if (kind !== "badBox" && kind !== "badRequest") throw fault;
  throw new RestError(kind, message, { cause: fault });
}

/** Decimals of a confidence in the envelope. */
const CONFIDENCE_DECIMALS = 4;

/** Creates the operations, as RPCs and over REST, and the open services: health and reflection. */
export function createServices(
  options: ServicesOptions,
): Pick<
  LifecycleOptions,
  "interceptors" | "rest" | "firstGenerationRest" | "typedRest" | "lines" | "rpcRoutes" | "openRpcRoutes"
> {
  const { analyzer, fetcher, rates, health, timeoutMs, isLegacy, log } = options;
  const interceptors = [recordOutcome, translateErrors(log), recheckCaller];
  const createFaces = (confidenceDecimals: number) =>
    createFaceService({
      analyzer,
      fetcher,
      timeoutMs,
      mismatch: isLegacy ? "no match" : "not a match",
      confidenceDecimals,
    });
  const createRest = (service: typeof faces, createWriter?: RestOptions["createWriter"]) =>
    createRestHandler({
      service: FaceService,
      transport: createDirectTransport(FaceService, service, interceptors),
      textParsers: REST_PARSERS,
      createWriter,
    });
  const faces = createFaces(CONFIDENCE_DECIMALS);
  const analysisOptions = { analyzer, fetcher, timeoutMs, rates };
  const analyzeItem = createItemAnalyzer(analysisOptions, LIMITS.streamImageWaitMs, log);
  const faceAnalysis = createFaceAnalysisService(analysisOptions, analyzeItem);
  const galleries = createGalleryService({
    analyzer,
    fetcher,
    timeoutMs,
    galleries: options.galleries,
    searcher: options.searcher,
    audit: (entry) => log.info({ event: "gallery changed", ...entry }),
  });
  const galleryTransport = createDirectTransport(GalleryService, galleries, interceptors);
  const accountOptions = {
    store: options.accounts,
    audit: (entry: AuditEntry) => log.info({ event: "account changed", ...entry }),
  };
  const account = createAccountService(accountOptions);
  const admin = options.hasAdmin ? createAdminService(accountOptions) : undefined;
  const reflection = createReflection([
    file_face_v1_face,
    file_visage_v1_face_analysis,
    file_visage_v1_gallery,
    file_visage_v1_account,
    ...(admin ? [file_visage_v1_admin] : []),
    file_google_rpc_error_details,
    file_grpc_health_v1_health,
    file_grpc_reflection_v1_reflection,
  ]);
  return {
    interceptors,
    rest: createRest(faces),
    firstGenerationRest: createRest(
      createFaces(FIRST_GENERATION_CONFIDENCE_DECIMALS),
      createFirstGenerationWriter,
    ),
    typedRest: [
      createRestHandler({
        service: FaceAnalysisService,
        transport: createDirectTransport(FaceAnalysisService, faceAnalysis, interceptors),
        textParsers: REST_PARSERS,
      }),
      createRestHandler({
        service: GalleryService,
        transport: galleryTransport,
        textParsers: REST_PARSERS,
      }),
      createRestHandler({
        service: AccountService,
        transport: createDirectTransport(AccountService, account, interceptors),
        textParsers: REST_PARSERS,
      }),
      ...(admin
        ? [
            createRestHandler({
              service: AdminService,
              transport: createDirectTransport(AdminService, admin, interceptors),
              textParsers: REST_PARSERS,
            }),
          ]
        : []),
    ],
    lines: [
      createJsonLines(analyzeItem, REST_PARSERS),
      createResponseLines(GalleryService.method.exportGallery, galleryTransport, REST_PARSERS),
      createRequestLines(GalleryService.method.importFaces, galleryTransport, REST_PARSERS),
    ],
    rpcRoutes: (router: ConnectRouter) => {
      router.service(FaceService, faces);
      router.service(FaceAnalysisService, faceAnalysis);
      router.service(GalleryService, galleries);
      router.service(AccountService, account);
      if (admin) router.service(AdminService, admin);
    },
    openRpcRoutes: (router: ConnectRouter) => {
      health.routes(router);
      if (options.hasReflection) reflection.routes(router);
    },
  };
}
