import {
  compression,
  galleries,
  malformedHeaders,
  mutated,
  rest,
  rpc,
  trailers,
} from "./http2-request-cases.ts";
import {
  headAndReset,
  imageStream,
  longLivedStreams,
  manyStreams,
  resetCall,
  streamStates,
} from "./http2-stream-cases.ts";
import type { Generator } from "./script.ts";

/**
 * The generators of HTTP/2 cases by name. Their order is part of what a seed means. Framing and header compression are
 * left to the tests of nghttp2, which implements them; `mutated` still breaks frames at random.
 */
export const HTTP2_GENERATORS: readonly (readonly [name: string, generator: Generator])[] = Object.entries({
  rpc,
  headAndReset,
  resetCall,
  streamStates,
  trailers,
  malformedHeaders,
  compression,
  rest,
  manyStreams,
  longLivedStreams,
  mutated,
  imageStream,
  galleries,
});
