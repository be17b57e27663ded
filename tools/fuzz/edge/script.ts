import type { Random } from "../../support/random.ts";

/** One action of a client on its connection. */
export type Step =
  | { readonly write: Buffer }
  | { readonly waitMs: number }
  /** Waits for the start of a response: the first byte over HTTP/1.1, a HEADERS frame over HTTP/2. */
  | { readonly awaitResponseMs: number }
  /** Sends FIN and keeps reading. */
  | "halfClose"
  /** Closes in both directions. */
  | "close"
  /** Sends RST. */
  | "reset";

/** The actions of one client on one TCP connection. */
export interface EdgeCase {
  readonly number: number;
  /** The generator that produced the case. */
  readonly kind: string;
  readonly protocol: "http1" | "http2";
  readonly steps: readonly Step[];
}

/** The inputs of all generators besides a source of randomness. */
export interface Fixtures {
  /** A small image with a face. */
  readonly photo: Buffer;
  /** A user id that the service accepts. */
  readonly user: string;
}

/** Produces the steps of one case. */
export type Generator = (random: Random, fixtures: Fixtures) => Step[];

const MAX_PIECES = 5;

/** Writes bytes in one piece, or split at random bytes into several. */
export function write(random: Random, ...parts: readonly (Uint8Array | string)[]): Step[] {
  const bytes = Buffer.concat(
    parts.map((part) => (typeof part === "string" ? Buffer.from(part, "latin1") : part)),
  );
  if (random.below(3) > 0 || bytes.length < 2) return [{ write: bytes }];
  const cuts = Array.from({ length: 1 + random.below(MAX_PIECES - 1) }, () => random.below(bytes.length));
  const bounds = [0, ...cuts.sort((a, b) => a - b), bytes.length];
  return bounds.slice(1).flatMap((end, i): Step[] => {
    const piece: Step = { write: bytes.subarray(bounds[i], end) };
    return random.below(2) === 0 ? [piece] : [piece, { waitMs: random.below(4) }];
  });
}

/** Closes the connection in one of the ways a client can, or leaves that to the server. */
export function finish(random: Random): Step[] {
  const end = random.pick<Step | undefined>([undefined, undefined, undefined, "halfClose", "close", "reset"]);
  return end === undefined ? [] : [end];
}

/** Stops a script at a random byte and closes the connection there. */
export function interrupt(random: Random, steps: readonly Step[]): Step[] {
  const bytesIn = (step: Step) => (typeof step === "object" && "write" in step ? step.write.length : 0);
  const total = steps.reduce((sum, step) => sum + bytesIn(step), 0);
  let left = random.below(total + 1);
  const kept: Step[] = [];
  for (const step of steps) {
    const length = bytesIn(step);
    if (typeof step === "object" && "write" in step && length > left) {
      kept.push({ write: step.write.subarray(0, left) });
      break;
    }
    kept.push(step);
    left -= length;
  }
  return [...kept, random.pick<Step>(["halfClose", "close", "reset", "reset"])];
}
