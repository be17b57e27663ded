import type { DescService } from "@bufbuild/protobuf";
import type { RestHandler } from "../rest/handler.ts";
import type { Api } from "./api.ts";
import type { JsonLines } from "./json-lines.ts";
import type { Access } from "./route.ts";
import type { RpcRoutes } from "./rpc.ts";

/** A service that the edge serves to users, as RPCs and over REST. */
export interface ServedService {
  readonly service: DescService;
  readonly api: Api;
  readonly access: Exclude<Access, "open">;
  /** Adds its RPCs. */
  readonly rpcRoutes: RpcRoutes;
  /** Serves its unary methods over REST. */
  readonly rest: RestHandler;
  /** Serves its streams as lines of JSON. */
  readonly lines: readonly JsonLines[];
}
