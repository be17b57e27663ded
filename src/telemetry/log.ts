import { pino } from "pino";
import { LineWriter, writeToStandardError } from "./line-writer.ts";
import type { RequestEnd } from "./request-end.ts";

/** From the most detailed to none. `info` has a line for each request. */
export const LOG_LEVELS = ["debug", "info", "warn", "error", "off"] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];

type Line = Readonly<Record<string, unknown>>;

/** Writes events, a JSON object per line. A line must hold no image, vector, user id or header. */
export interface Log {
  info(line: Line): void;
  warn(line: Line): void;
  error(line: Line): void;
  /** How many lines were dropped because the reader did not keep up. */
  readonly droppedLines: number;
  /** Waits until every line is written, but not longer than this. */
  flush(timeoutMs: number): Promise<void>;
}

/** Where the lines of a log are written. */
export type LogOutput = Pick<LineWriter, "write" | "dropped" | "flush">;

/** Creates a log of this level, to standard error unless given. Writing never blocks. */
export function createLog(level: LogLevel, output: LogOutput = standardError()): Log {
  const logger = pino(
    {
      level: level === "off" ? "silent" : level,
      // The process and host are for whoever collects the lines to add.
      base: null,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    output,
  );
  return {
    info: (line) => logger.info(line),
    warn: (line) => logger.warn(line),
    error: (line) => logger.error(line),
    get droppedLines() {
      return output.dropped;
    },
    flush: (timeoutMs) => output.flush(timeoutMs),
  };
}

function standardError(): LineWriter {
  return new LineWriter(writeToStandardError(), noticeOf);
}

/** Reports dropped lines in the format of all others. */
function noticeOf(lines: number): string {
  const time = new Date().toISOString();
  return `${JSON.stringify({ level: "warn", time, event: "log lines dropped", lines })}\n`;
}

/** The log line of a request: the user, the operation, the outcome and the time of each stage. */
export function lineFrom(end: RequestEnd): Line {
  const { requestId, user, operation, wire, outcome, milliseconds, imageBytes, faces } = end;
  const stages: Record<string, number> = {};
  for (const { stage, milliseconds: time } of end.stages)
    stages[stage] = rounded((stages[stage] ?? 0) + time);
  return {
    requestId,
    user,
    operation,
    wire,
    outcome,
    milliseconds: rounded(milliseconds),
    stages,
    imageBytes,
    faces,
  };
}

function rounded(milliseconds: number): number {
  return Math.round(milliseconds * 10) / 10;
}
