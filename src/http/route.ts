/**
 * Who may call a path: anyone, a user within its plan, a user whatever its plan (for its own account), or the operator
 * by the admin key.
 */
export type Access = "open" | "operation" | "account" | "admin";

/** A path that is served, with the methods of HTTP for which it is this route. */
export interface Route {
  /** The template of the path, for a route with variables. */
  readonly path: string;
  readonly methods: readonly string[];
  /** The operation's name in usage, metrics and the log, such as `get_face_vec`; `none` if it is not an operation. */
  readonly operation: string;
  readonly access: Access;
  /** Whether it is called by gRPC, gRPC-Web or Connect. */
  readonly isRpc: boolean;
  /** Whether its body and its response are streams of messages. */
  readonly isStream: boolean;
}

/** The operation of paths that are not an operation. */
export const NO_OPERATION = "none";

/** The path and query of a request. */
export interface Target {
  readonly path: string;
  /** The variables in the path. */
  readonly variables: Readonly<Record<string, string>>;
  /** Without the question mark. */
  readonly query: string;
}

/** Splits a request target; undefined if it has no path, such as `*`. */
export function targetFromUrl(url: string): Omit<Target, "variables"> | undefined {
  // A client that speaks to a proxy sends the whole URL.
  const target = url.replace(/^https?:\/\/[^/?#]*/i, "").replace(/#.*/s, "");
  const mark = target.indexOf("?");
  const path = mark < 0 ? target : target.slice(0, mark);
  if (!path.startsWith("/")) return undefined;
  return { path, query: mark < 0 ? "" : target.slice(mark + 1) };
}
