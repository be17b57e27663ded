import { FaceService } from "../gen/ts/face/v1/face_pb.ts";
import type { Wire } from "./ops/request-end.ts";

/** Whatever has a target. */
export interface Targeted {
  readonly url?: string | undefined;
}

/** Paths that need no user id: they tell nothing about anyone. */
const OPEN_PATHS = ["/grpc.health.v1.Health/", "/grpc.reflection.", "/healthz", "/readyz"];
const RPC_PATH = `/${FaceService.typeName}/`;
/** Operations by the ends of their paths: `GetFaceVec` and `get_face_vec`. */
const OPERATIONS = new Map(
  FaceService.methods.flatMap(({ name }) => [name, operationOf(name)].map((end) => [end, operationOf(name)])),
);

/** Tells whether a request may come from anyone. */
export function isOpen({ url = "" }: Targeted): boolean {
  return OPEN_PATHS.some((open) => url.startsWith(open));
}

/** Tells whether a request is for an operation at its path as an RPC, rather than at its plain one. */
export function isRpc({ url = "" }: Targeted): boolean {
  return url.startsWith(RPC_PATH);
}

/** What usage calls the operation at a path, plain or of an RPC; `none` where there is none. */
export function operationAt({ url = "" }: Targeted): string {
  const end = url.search(/[?#]/);
  const path = end < 0 ? url : url.slice(0, end);
  return OPERATIONS.get(path.slice(path.lastIndexOf("/") + 1)) ?? "none";
}

/** How a request came. */
export function wireOf(
  request: Targeted & { readonly headers: { readonly "content-type"?: string | undefined } },
): Wire {
  const type = request.headers["content-type"] ?? "";
  if (type.startsWith("application/grpc-web")) return "grpc-web";
  if (type.startsWith("application/grpc")) return "grpc";
  return isRpc(request) ? "connect" : "rest";
}

/** What usage and logs call an operation: `get_face_vec` for GetFaceVec. */
function operationOf(method: string): string {
  return method.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => `_${letter}`).toLowerCase();
}
