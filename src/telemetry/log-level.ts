/** Log levels from the most verbose to none. `info` logs every request. */
export const LOG_LEVELS = ["debug", "info", "warn", "error", "off"] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];
