import type { DescService } from "@bufbuild/protobuf";
import type { ServiceImpl, Transport } from "@connectrpc/connect";
import { FaceService } from "../gen/ts/face/v1/face_pb.ts";
import { AccountService } from "../gen/ts/visage/v1/account_pb.ts";
import { AdminService } from "../gen/ts/visage/v1/admin_pb.ts";
import { FaceAnalysisService } from "../gen/ts/visage/v1/face_analysis_pb.ts";
import { GalleryService } from "../gen/ts/visage/v1/gallery_pb.ts";
import type { AuditTrail } from "./audit/audit-trail.ts";
import type { Api } from "./http/api.ts";
import { createJsonLines, type JsonLines } from "./http/json-lines.ts";
import { LIMITS } from "./http/limits.ts";
import { createRequestLines, createResponseLines } from "./http/one-way-lines.ts";
import type { ServedService } from "./http/served-service.ts";
import type { Permission } from "./permissions.ts";
import { createRestHandler, type RestHandler } from "./rest/handler.ts";
import { RestError } from "./rest/rest-error.ts";
import type { TextParsers } from "./rest/text-parser.ts";
import { type AccountServiceOptions, createAccountService } from "./service/account-service.ts";
import { createAdminService } from "./service/admin-service.ts";
import { auditRequests } from "./service/audit-requests.ts";
import { checkPermissions } from "./service/check-permissions.ts";
import { createDirectTransport } from "./service/direct-transport.ts";
import { httpErrorFrom, statusJsonFrom } from "./service/error-responses.ts";
import {
  createFaceAnalysisService,
  createItemAnalyzer,
  type FaceAnalysisOptions,
} from "./service/face-analysis-service.ts";
import { createFaceService, type FaceServiceOptions } from "./service/face-service.ts";
import {
  createFirstGenerationWriter,
  FIRST_GENERATION_CONFIDENCE_DECIMALS,
  firstGenerationError,
  isFirstGeneration,
} from "./service/first-generation.ts";
import type { GalleryServiceOptions } from "./service/gallery-call.ts";
import { createGalleryService } from "./service/gallery-service.ts";
import { recordOutcome, translateErrors } from "./service/interceptors.ts";
import { PermissionCheck } from "./service/permission-check.ts";
import { recheckCaller } from "./service/recheck-caller.ts";
import { ServiceError } from "./service/service-error.ts";
import { TEXT_PARSERS } from "./service/text-parsers.ts";
import type { Log } from "./telemetry/log.ts";

/** Options of the services. */
export interface ServicesOptions extends Pick<FaceServiceOptions, "analyzer" | "fetcher"> {
  readonly previousAnalyzer?: GalleryServiceOptions["previousAnalyzer"];
  /** The rate of false matches of the analyzer's model. */
  readonly rates: FaceAnalysisOptions["rates"];
  readonly galleries: GalleryServiceOptions["galleries"];
  readonly searcher: GalleryServiceOptions["searcher"];
  readonly accounts: AccountServiceOptions["store"];
  /** What is switched off for everybody; nothing by default. */
  readonly off?: readonly Permission[];
  /** Whether AdminService is served. */
  readonly hasAdmin: boolean;
  /** The longest that an operation may take. */
  readonly timeoutMs: number;
  /** Whether to answer like the original service over REST (docs/legacy.md). */
  readonly isLegacy: boolean;
  readonly log: Log;
  readonly auditTrail: AuditTrail;
}

export const VISAGE_V1: Api = {
  pathPrefix: "/v1/",
  operationPrefix: "visage.v1.",
  errorBody: statusJsonFrom,
};

/** Its operations are named like its paths. */
export const FACE_V1: Api = {
  pathPrefix: "/",
  operationPrefix: "",
  errorBody: (error) => httpErrorFrom(error).body,
};

/** face.v1 for programs of the original service, which read errors only with HTTP status 200. */
const LEGACY_FACE_V1: Api = {
  ...FACE_V1,
  errorBody: (error, headers) =>
    isFirstGeneration(headers) ? firstGenerationError(error.kind) : httpErrorFrom(error).body,
  errorStatus: 200,
};

/** Decimals of a confidence in the envelope. */
const CONFIDENCE_DECIMALS = 4;

/** Creates the services that the edge serves, each with its API, its access and its forms over REST. */
export function createServices(options: ServicesOptions): readonly ServedService[] {
  const { analyzer, fetcher, rates, timeoutMs, isLegacy, log } = options;
  const permissions = new PermissionCheck(options.off ?? []);
  const interceptors = [
    recordOutcome,
    translateErrors(log),
    auditRequests(options.auditTrail),
    checkPermissions(permissions, options.galleries),
    recheckCaller,
  ];

  const transportTo = <Service extends DescService>(service: Service, implementation: ServiceImpl<Service>) =>
    createDirectTransport(service, implementation, interceptors);

  function serve<Service extends DescService>(
    service: Service,
    implementation: ServiceImpl<Service>,
    part: Partial<Pick<ServedService, "api" | "access">> & {
      readonly lines?: (transport: Transport) => readonly JsonLines[];
    } = {},
  ): ServedService {
    const transport = transportTo(service, implementation);
    return {
      service,
      api: VISAGE_V1,
      access: "operation",
      rpcRoutes: (router) => router.service(service, implementation, { interceptors }),
      rest: createRestHandler({ service, transport, textParsers: REST_PARSERS }),
      ...part,
      lines: part.lines?.(transport) ?? [],
    };
  }

  const createFaces = (confidenceDecimals: number) =>
    createFaceService({
      analyzer,
      fetcher,
      permissions,
      timeoutMs,
      mismatch: isLegacy ? "no match" : "not a match",
      confidenceDecimals,
    });
  const faces = serve(FaceService, createFaces(CONFIDENCE_DECIMALS), { api: FACE_V1 });
  const createLegacyFaces = (): ServedService => {
    const firstGeneration = createRestHandler({
      service: FaceService,
      transport: transportTo(FaceService, createFaces(FIRST_GENERATION_CONFIDENCE_DECIMALS)),
      textParsers: REST_PARSERS,
      createWriter: createFirstGenerationWriter,
    });
    return { ...faces, api: LEGACY_FACE_V1, rest: withFirstGeneration(faces.rest, firstGeneration) };
  };
  const analysisOptions = { analyzer, fetcher, permissions, timeoutMs, rates };
  const analyzeItem = createItemAnalyzer(analysisOptions, LIMITS.streamImageWaitMs, log);
  const galleries = createGalleryService({
    analyzer,
    fetcher,
    permissions,
    timeoutMs,
    previousAnalyzer: options.previousAnalyzer,
    galleries: options.galleries,
    searcher: options.searcher,
  });
  const accountOptions: AccountServiceOptions = { store: options.accounts };
  return [
    isLegacy ? createLegacyFaces() : faces,
    serve(FaceAnalysisService, createFaceAnalysisService(analysisOptions, analyzeItem), {
      lines: () => [createJsonLines(analyzeItem, permissions, REST_PARSERS)],
    }),
    serve(GalleryService, galleries, {
      lines: (transport) => [
        createResponseLines(GalleryService.method.exportGallery, transport, REST_PARSERS),
        createResponseLines(GalleryService.method.exportPerson, transport, REST_PARSERS),
        createRequestLines(GalleryService.method.importFaces, transport, REST_PARSERS),
      ],
    }),
    serve(AccountService, createAccountService(accountOptions), { access: "account" }),
    ...(options.hasAdmin
      ? [serve(AdminService, createAdminService(accountOptions), { access: "admin" })]
      : []),
  ];
}

/** Serves the same paths for programs of the first generation by another handler. */
function withFirstGeneration(rest: RestHandler, firstGeneration: RestHandler): RestHandler {
  return {
    routes: rest.routes,
    call: (route, call) => (isFirstGeneration(call.headers) ? firstGeneration : rest).call(route, call),
  };
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
