import { createLog, type Log } from "../../src/telemetry/log.ts";

/** A line of the log. */
export type LogLine = Readonly<Record<string, unknown>>;

/** A log that keeps its lines. */
export interface CapturedLog {
  readonly log: Log;
  readonly lines: readonly LogLine[];
  /** The lines of an event, in order. */
  events(...names: string[]): LogLine[];
}

export function captureLog(): CapturedLog {
  const lines: LogLine[] = [];
  const log = createLog("debug", {
    write: (line) => void lines.push(JSON.parse(line) as LogLine),
    dropped: 0,
    flush: async () => {},
  });
  return { log, lines, events: (...names) => lines.filter(({ event }) => names.includes(String(event))) };
}
