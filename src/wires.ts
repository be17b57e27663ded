import { Code, type ConnectRouter, type ContextValues } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { FaceService } from "../gen/ts/face/v1/face_pb.ts";
import type { Request, Response } from "./admission.ts";
import { explainEarlyErrors } from "./early-errors.ts";
import type { Log } from "./ops/log.ts";
import type { CorsOptions } from "./rest/cors.ts";
import { createRestHandler } from "./rest/handler.ts";
import { RestError } from "./rest/rest-error.ts";
import { createDirectTransport } from "./service/direct-transport.ts";
import { reasonOf } from "./service/error-table.ts";
import { createFaceService, type FaceServiceOptions } from "./service/face-service.ts";
import { recordOutcome, translateErrors } from "./service/interceptors.ts";
import { contextWith, noteOutcome, type RequestRecord } from "./service/record.ts";
import { connectErrorFrom, httpAnswerFrom, ServiceError, serviceErrorFrom } from "./service/service-error.ts";
import { boxFromText, imageFromBytes, imageFromText } from "./service/texts.ts";

/** What the wires carry, and how. */
export interface WiresOptions extends FaceServiceOptions, CorsOptions {
  readonly maxRequestBytes: number;
  readonly log: Log;
  /** The status of plain HTTP that is given in place of an error's own. */
  readonly httpStatus: (status: number) => number;
  /** Services beside the one for faces. */
  readonly moreRoutes: (router: ConnectRouter) => void;
}

/** Serves a request that was let in, and notes in its record, if it has one, what becomes of it. */
export type Wires = (request: Request, response: Response, record?: RequestRecord) => void;

const TEXT_FORMS = {
  "face.v1.Image": { fromText: imageFromText, fromBytes: imageFromBytes },
  "face.v1.BoundingBox": { fromText: boxFromText },
};

/** Serves the four operations over gRPC, gRPC-Web and Connect, and what is none of these as plain HTTP. */
export function createWires(options: WiresOptions): Wires {
  const { log, maxRequestBytes, httpStatus } = options;
  const interceptors = [recordOutcome, translateErrors(log)];
  const faces = createFaceService(options);
  const contexts = new WeakMap<object, ContextValues>();

  const rest = createRestHandler({
    service: FaceService,
    transport: createDirectTransport(FaceService, faces, interceptors),
    timeoutMs: options.timeoutMs,
    textForms: TEXT_FORMS,
    maxRequestBytes,
    corsOrigins: options.corsOrigins,
    corsHeaders: options.corsHeaders,
    answerError: (fault, context) => {
      const error = fault instanceof RestError ? serviceErrorOf(fault) : serviceErrorFrom(fault);
      noteOutcome(context, reasonOf(error.kind));
      const answer = httpAnswerFrom(error);
      return { ...answer, status: httpStatus(answer.status) };
    },
  });
  const rpc = connectNodeAdapter({
    routes: (router) => {
      router.service(FaceService, faces);
      explainEarlyErrors(router, (context) => (early) => {
        // Nothing of ours has run: what Connect takes for a fault of the server's is a body it cannot parse.
        const isFault = early.code === Code.Internal;
        const error = isFault ? new ServiceError("badRequest") : serviceErrorFrom(early);
        noteOutcome(context, reasonOf(error.kind));
        return connectErrorFrom(error);
      });
      options.moreRoutes(router);
    },
    interceptors,
    readMaxBytes: maxRequestBytes,
    contextValues: (request) => contexts.get(request)!,
    fallback: (request, response) => void rest(request as never, response as never, contexts.get(request)),
  });
  return (request, response, record) => {
    contexts.set(request, contextWith(record));
    rpc(request as never, response as never);
  };
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
