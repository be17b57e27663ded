/** How much is told: every request, only what went wrong on our side, or nothing. */
export const LOG_LEVELS = ["info", "error", "off"] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];

/** Writes what happened, a JSON object a line. What is given must hold no image, vector, id or header. */
export interface Log {
  info(line: Readonly<Record<string, unknown>>): void;
  error(line: Readonly<Record<string, unknown>>): void;
}

/** A log of this much, line by line, to standard error unless said otherwise. */
export function createLog(level: LogLevel, write = (line: string) => void process.stderr.write(line)): Log {
  const writer = (name: "info" | "error") => (line: Readonly<Record<string, unknown>>) => {
    if (LOG_LEVELS.indexOf(level) > LOG_LEVELS.indexOf(name)) return;
    write(`${JSON.stringify({ time: new Date().toISOString(), level: name, ...line })}\n`);
  };
  return { info: writer("info"), error: writer("error") };
}
