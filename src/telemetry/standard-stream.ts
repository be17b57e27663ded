import { constants, fstatSync, openSync, write } from "node:fs";

/** Writes as many bytes of a chunk as possible without blocking, like `fs.write` on a non-blocking descriptor. */
export type WriteChunk = (
  chunk: Uint8Array,
  done: (error: NodeJS.ErrnoException | null, writtenBytes: number) => void,
) => void;

/** Standard output and standard error. */
const STREAMS = { stdout: 1, stderr: 2 } as const;

/** Opens a standard stream for writing. Nothing else may write to it meanwhile. */
export function openStandardStream(name: keyof typeof STREAMS): WriteChunk {
  const descriptor = openDescriptor(name);
  return (chunk, done) => write(descriptor, chunk, done);
}

/**
 * Returns a non-blocking descriptor of a stream: writes fail with EAGAIN instead of blocking. A blocked write would occupy
 * a thread of libuv's pool, and Node does not exit before its threads have finished.
 *
 * Pipes and terminals are opened again, because the flags of a descriptor are shared with every process that inherited
 * it and may be changed there. A file is not opened again, because the new descriptor would have its own position.
 */
function openDescriptor(name: keyof typeof STREAMS): number {
  const descriptor = STREAMS[name];
  const kind = fstatSync(descriptor);
  if (kind.isFIFO() || kind.isCharacterDevice()) {
    try {
      const flags = constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY;
      return openSync(`/proc/self/fd/${descriptor}`, flags);
    } catch {
      // There is no /proc, or the pipe belongs to another user.
    }
  }
  // Accessing Node's stream makes pipes and sockets non-blocking. The callbacks of the writes handle the errors.
  if (!kind.isFile()) process[name].on("error", () => {});
  return descriptor;
}
