import { readFileSync } from "node:fs";

const KIB = 1024;

/**
 * What the edge allows, in one place. SECURITY.md has the same table with what a client sees beyond each limit, and
 * test/http/limits.service.test.ts exceeds every row. Limits that an operator may set are in the configuration; those of the
 * body parsers are in rest/parse-limits.ts.
 */
export const LIMITS = {
  /** From the connection's start to its first byte, and for the TLS handshake. */
  firstByteMs: 10_000,
  /** For the head of an HTTP/1.1 request. */
  headMs: 10_000,
  headBytes: 16 * KIB,
  /** A connection without an open request is closed after this long. */
  idleMs: 75_000,
  /** HTTP/2: a silent peer is pinged after this long, sooner while it has open requests. */
  pingIdleMs: 30_000,
  pingBusyMs: 5_000,
  /** HTTP/2: a peer that stays silent for this long after a ping is gone. */
  pingTimeoutMs: 10_000,
  /** From the end of a connection's age to its end: requests that are in flight may finish. */
  ageGraceMs: 30_000,
  streamsPerConnection: 256,
  /** HTTP/1.1: how much of a rejected request's body is discarded, and for how long, so that the client can read why. */
  discardBytes: 1024 * KIB,
  discardMs: 2_000,
  /** A message to the health or reflection service. */
  openMessageBytes: 4 * KIB,
  /** JSON in gRPC and gRPC-Web. In Connect, a larger message is converted before it is parsed. */
  plainJsonBytes: 1024 * KIB,
  /** A stream without a message in either direction ends after this long, unless it watches health. */
  streamIdleMs: 30_000,
  /** Streams that watch health: on one connection, and in all. */
  watchesPerConnection: 16,
  watches: 1_024,
  /** The longest deadline that a client of the health or reflection service may set; a longer one is cut to none. */
  clientDeadlineMs: 86_400_000,
  /** How long the client may take to read a response. */
  responseMs: 30_000,
} as const;

/** Connections that may be open at once unless the operator says otherwise. */
export const MAX_CONNECTIONS = { total: 4_096, perAddress: 512 };

/** Descriptors that are left for everything but connections: workers, databases, files. */
const SPARE_DESCRIPTORS = 64;

/** The smaller of the default and what the process's limit on open files leaves room for. */
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
