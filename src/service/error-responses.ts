import { create, createRegistry, type JsonObject, toJson } from "@bufbuild/protobuf";
import { type Any, anyPack, anyUnpack } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import {
  BadRequestSchema,
  ErrorInfoSchema,
  file_google_rpc_error_details,
  QuotaFailureSchema,
  RetryInfoSchema,
} from "../../gen/ts/google/rpc/error_details_pb.ts";
import { type Status, StatusSchema } from "../../gen/ts/google/rpc/status_pb.ts";
import { ERRORS, reasonFromKind } from "./error-table.ts";
import { type ServiceError, serviceErrorFrom } from "./service-error.ts";

/** An error as plain HTTP. */
export interface HttpError {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The error envelope. */
  readonly body: {
    readonly status: "error";
    readonly code: string;
    readonly success: false;
    readonly message: string;
    readonly data: { readonly reason: string; readonly retryable: boolean };
  };
}

/** The types of error details, which the JSON form of google.rpc.Status needs. */
export const ERROR_DETAILS = createRegistry(file_google_rpc_error_details);

/** `google.rpc.ErrorInfo.domain`: with the reason it identifies an error among all services. */
const DOMAIN = "visage.dev";

/** The metadata by which a server delays the retries that gRPC libraries make by themselves (gRFC A6). */
const PUSHBACK = "grpc-retry-pushback-ms";
/** The codes that the published service config retries. */
const PUSHBACK_CODES: readonly Code[] = [Code.Unavailable, Code.ResourceExhausted];
/** A library should not hold a call open for longer than this. */
const MAX_PUSHBACK_MS = 60_000;
const DO_NOT_RETRY = "-1";

/** The challenge of a response with status 401 (RFC 6750). A request without a key gets no error code. */
const CHALLENGE = 'Bearer realm="visage"';
const INVALID_KEY_CHALLENGE = `${CHALLENGE}, error="invalid_token"`;

const RETRY_AFTER = "retry-after";

/** Converts an error for gRPC, gRPC-Web and Connect, with its details. */
export function connectErrorFrom(error: ServiceError): ConnectError {
  const { kind, message, field, boxField, retryAfterMs } = error;
  const { code, grpc, retryable, stage, quota } = ERRORS[kind];
  const info = {
    reason: reasonFromKind(kind),
    domain: DOMAIN,
    metadata: {
      code,
      retryable: String(retryable),
      stage,
      ...(field && { field }),
      ...(boxField && { box_field: boxField }),
      ...error.metadata,
    },
  };
  const fieldViolations = [{ field: boxField ?? field ?? "", description: message }];
  return new ConnectError(
    message,
    grpc,
    {
      ...(retryable && { [RETRY_AFTER]: secondsFrom(retryAfterMs) }),
      ...(PUSHBACK_CODES.includes(grpc) && { [PUSHBACK]: pushbackFrom(retryable, retryAfterMs) }),
    },
    [
      { desc: ErrorInfoSchema, value: info },
      ...(grpc === Code.InvalidArgument ? [{ desc: BadRequestSchema, value: { fieldViolations } }] : []),
      ...(quota
        ? [{ desc: QuotaFailureSchema, value: { violations: [{ subject: quota, description: message }] } }]
        : []),
      ...(retryable ? [{ desc: RetryInfoSchema, value: { retryDelay: durationFrom(retryAfterMs) } }] : []),
    ],
    error.cause,
  );
}

/** Converts an error to google.rpc.Status, with its details. */
export function statusFrom(error: ServiceError): Status {
  const { code, rawMessage: message, details } = connectErrorFrom(error);
  return create(StatusSchema, { code, message, details: details.map(packDetail) });
}

function packDetail(detail: ConnectError["details"][number]): Any {
  if (!("desc" in detail)) throw new TypeError("Details of own errors are not serialized yet.");
  return anyPack(detail.desc, create(detail.desc, detail.value));
}

/** Converts an error to the JSON form of google.rpc.Status. */
export function statusJsonFrom(error: ServiceError): JsonObject {
  return jsonFromStatus(statusFrom(error));
}

/** Converts a status to JSON. Its reason and whether to retry are repeated at the top level. */
export function jsonFromStatus(status: Status): JsonObject {
  const [info] = status.details.flatMap((detail) => anyUnpack(detail, ErrorInfoSchema) ?? []);
  return {
    ...(toJson(StatusSchema, status, { registry: ERROR_DETAILS }) as JsonObject),
    reason: info?.reason ?? "",
    retryable: info?.metadata.retryable === "true",
  };
}

function pushbackFrom(retryable: boolean, retryAfterMs: number): string {
  return retryable && retryAfterMs <= MAX_PUSHBACK_MS ? String(retryAfterMs) : DO_NOT_RETRY;
}

/** Whole seconds, for the header Retry-After. */
function secondsFrom(milliseconds: number): string {
  return String(Math.max(1, Math.ceil(milliseconds / 1000)));
}

function durationFrom(milliseconds: number): { seconds: bigint; nanos: number } {
  return { seconds: BigInt(Math.floor(milliseconds / 1000)), nanos: (milliseconds % 1000) * 1e6 };
}

/** Converts anything that was thrown for plain HTTP. */
export function httpErrorFrom(fault: unknown): HttpError {
  const { kind, message, field, allow, retryAfterMs } = serviceErrorFrom(fault);
  const { code, http, retryable } = ERRORS[kind];
  const headers: Record<string, string> = {};
  if (field !== undefined) headers["x-visage-image"] = field;
  if (allow) headers.allow = allow.join(", ");
  if (http === 401) headers["www-authenticate"] = kind === "noUserId" ? CHALLENGE : INVALID_KEY_CHALLENGE;
  if (retryable) headers[RETRY_AFTER] = secondsFrom(retryAfterMs);
  return {
    status: http,
    headers,
    body: {
      status: "error",
      code,
      success: false,
      message,
      data: { reason: reasonFromKind(kind), retryable },
    },
  };
}
