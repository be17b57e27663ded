import { readFileSync } from "node:fs";

const KIB = 1024;

/**
 * The limits of the edge. SECURITY.md has the same table and describes what a client sees beyond each limit. The tests
 * `limits` and `time-limits` of test/http exceed every row. Limits that an operator can set are in the configuration,
 * those of the body parsers in rest/parse-limits.ts.
 */
export const LIMITS = {
  /** From the connection's start to its first byte, and for the TLS handshake. */
  firstByteMs: 10_000,
  /** For the head of an HTTP/1.1 request. */
  headMs: 10_000,
  headBytes: 16 * KIB,
  /** A connection without an open request is closed after this long. */
  idleMs: 75_000,
  /** HTTP/2: a peer that is silent for this long gets a PING: with no open stream, and with some. */
  pingIdleMs: 30_000,
  pingBusyMs: 5_000,
  /** HTTP/2: a peer that stays silent for this long after a PING is considered gone. */
  pingTimeoutMs: 10_000,
  /** How long requests in flight may take after a connection has reached its maximum age. */
  ageGraceMs: 30_000,
  streamsPerConnection: 256,
  /** HTTP/2: beyond so many streams of all connections, a connection with an open stream gets no other one. */
  streams: 8_192,
  /** HTTP/1.1: requests of one connection that are sent without waiting for responses. */
  pipelinedRequests: 16,
  /** HTTP/2: requests that the clients of an address may reset this soon, beyond those that were answered. */
  resetMs: 100,
  resets: 256,
  resetsPerSecond: 32,
  /** HTTP/1.1: how much of a rejected body is discarded, and for how long, so that the client can read the response. */
  discardBytes: 1024 * KIB,
  discardMs: 2_000,
  /** HTTP/2: for the body of a rejected request, on a connection with more than half of its streams open. */
  rejectedBodyMs: 10_000,
  /** A message to the health or reflection service. */
  openMessageBytes: 4 * KIB,
  /** A JSON message over gRPC and gRPC-Web. Over Connect, a larger one is converted to binary first. */
  plainJsonBytes: 1024 * KIB,
  /** A stream without a message in either direction for this long ends, except for health watches. */
  streamIdleMs: 30_000,
  /** Images of one stream in progress: enough to keep workers busy while results are sent, and few in memory. */
  streamImagesPerWorker: 2,
  streamImages: 16,
  /** How long an image of a stream waits for the rate limit or for room in the queue. */
  streamImageWaitMs: 30_000,
  /** Calls of health and reflection in progress: on one connection and from one address; and streams in total. */
  openCallsPerConnection: 16,
  openCallsPerAddress: 128,
  openStreams: 1_024,
  /** The longest timeout that a client of the health or reflection service may set; a longer one is ignored. */
  clientDeadlineMs: 86_400_000,
  /** How long a client may take to read a response. */
  responseMs: 30_000,
} as const;

/** The default limits on open connections. */
export const MAX_CONNECTIONS = { total: 4_096, perAddress: 512 };

/** File descriptors that are reserved for workers, databases and files. */
const SPARE_DESCRIPTORS = 64;

/** The default limit on open connections, lowered to what the process's limit on open files allows. */
export function defaultMaxConnections(limitsFile = "/proc/self/limits"): number {
  return Math.max(1, Math.min(MAX_CONNECTIONS.total, descriptorLimit(limitsFile) - SPARE_DESCRIPTORS));
}

function descriptorLimit(limitsFile: string): number {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync(limitsFile, "utf8")) ?? [];
    return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft);
  } catch {
    // Only Linux has this file.
    return Number.POSITIVE_INFINITY;
  }
}
