import type { IncomingHttpHeaders } from "node:http";
import type { JsonValue } from "@bufbuild/protobuf";
import type { ServiceError } from "../service/service-error.ts";

/** A generation of the API: what its services have in common. */
export interface Api {
  /** The beginning of its paths over REST. */
  readonly pathPrefix: string;
  /** The beginning of its operations' names in usage, metrics and the log. */
  readonly operationPrefix: string;
  /** Writes the body of an error over REST, for a request with these headers. */
  errorBody(error: ServiceError, headers: IncomingHttpHeaders): JsonValue;
  /** The HTTP status of every error over REST; undefined for the status of the error's kind. */
  readonly errorStatus?: number | undefined;
}

/** Returns the API of a path, also if no route has the path: the one with the longest prefix. */
export function apiOf(path: string, apis: readonly Api[]): Api | undefined {
  return apis
    .filter(({ pathPrefix }) => path.startsWith(pathPrefix))
    .toSorted((a, b) => b.pathPrefix.length - a.pathPrefix.length)[0];
}
