import {
  abandonResponse,
  chunked,
  expectContinue,
  framing,
  galleries,
  imageStream,
  pipeline,
  rpc,
  truncatedBody,
} from "./http1-body-cases.ts";
import { headerFlood, hostHeader, noise, requestLine, upgrade } from "./http1-head-cases.ts";
import type { Generator } from "./script.ts";

/** The generators of HTTP/1.1 cases by name. Their order is part of what a seed means. */
export const HTTP1_GENERATORS: readonly (readonly [name: string, generator: Generator])[] = Object.entries({
  requestLine,
  hostHeader,
  framing,
  chunked,
  expectContinue,
  upgrade,
  pipeline,
  headerFlood,
  truncatedBody,
  rpc,
  abandonResponse,
  noise,
  imageStream,
  galleries,
});
