import {
  continuation,
  flowControl,
  hpack,
  padding,
  pings,
  preface,
  priority,
  settingsFrames,
} from "./http2-frame-cases.ts";
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

/** The generators of HTTP/2 cases by name. Their order is part of what a seed means. */
export const HTTP2_GENERATORS: readonly (readonly [name: string, generator: Generator])[] = Object.entries({
  rpc,
  headAndReset,
  resetCall,
  preface,
  settingsFrames,
  continuation,
  hpack,
  padding,
  priority,
  flowControl,
  pings,
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
