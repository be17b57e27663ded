import { pino } from "pino";
import { LineWriter } from "./line-writer.ts";
import type { LogLevel } from "./log-level.ts";
import { openStandardStream } from "./standard-stream.ts";

export type LogFields = Readonly<Record<string, unknown>>;

/** A structured log: one JSON object per line. Fields must not contain images, embeddings, user ids or headers. */
export interface Log {
  info(fields: LogFields): void;
  warn(fields: LogFields): void;
  error(fields: LogFields): void;
  /** Number of lines dropped because the reader was too slow. */
  readonly droppedLines: number;
  /** Waits until every line is written or the timeout has passed. */
  flush(timeoutMs: number): Promise<void>;
}

/** Destination of the log lines. */
export type LogOutput = Pick<LineWriter, "write" | "dropped" | "flush">;

/** Creates a log, by default to standard error, with fields that every line has. Writing never blocks. */
export function createLog(
  level: LogLevel,
  output?: LogOutput,
  commonFields: Readonly<Record<string, string>> = {},
): Log {
  const destination = output ?? openStandardErrorOutput(commonFields);
  const logger = pino(
    {
      level: level === "off" ? "silent" : level,
      base: commonFields,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    destination,
  );
  return {
    info: (fields) => logger.info(fields),
    warn: (fields) => logger.warn(fields),
    error: (fields) => logger.error(fields),
    get droppedLines() {
      return destination.dropped;
    },
    flush: (timeoutMs) => destination.flush(timeoutMs),
  };
}

function openStandardErrorOutput(commonFields: Readonly<Record<string, string>>): LineWriter {
  /** Returns the log line that reports dropped lines. */
  const formatDropNotice = (lines: number) => {
    const time = new Date().toISOString();
    const fields = { level: "warn", time, ...commonFields, event: "log lines dropped", lines };
    return `${JSON.stringify(fields)}\n`;
  };
  return new LineWriter(openStandardStream("stderr"), formatDropNotice);
}
