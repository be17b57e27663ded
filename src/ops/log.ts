import { destination, pino } from "pino";
import type { RequestEnd } from "./request-end.ts";

/** How much is told: more than anyone needs, every request, what is worth a look, what went wrong, or nothing. */
export const LOG_LEVELS = ["debug", "info", "warn", "error", "off"] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];

type Line = Readonly<Record<string, unknown>>;

/** Writes what happened, a JSON object a line. What is given must hold no image, vector, id or header. */
export interface Log {
  info(line: Line): void;
  warn(line: Line): void;
  error(line: Line): void;
}

/** A log of this much, line by line, to standard error unless said otherwise. */
export function createLog(level: LogLevel, to: { write(line: string): void } = standardError()): Log {
  return pino(
    {
      level: level === "off" ? "silent" : level,
      // The process and host are for whoever collects the lines to add.
      base: null,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    to,
  );
}

/** Written at once: what was said last before a crash is what one wants to read. */
function standardError() {
  return destination({ dest: 2, sync: true });
}

/** What is told of a request: who asked what, how it ended and how long each step took. */
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
