import { extname, resolve } from "node:path";
import type { Config } from "../config.ts";
import { parseOptions } from "./arguments.ts";
import { UsageError } from "./command.ts";
import { type FormatName, REPORT_FORMATS } from "./report-formats.ts";
import { findServer, SERVER_OPTIONS, type Server } from "./server-options.ts";

/** A valid command line of `visage analyze`. */
export interface AnalyzeOptions {
  readonly args: readonly string[];
  readonly format: FormatName;
  readonly embeddings: boolean;
  readonly output: string | undefined;
  /** Whether to keep the results that the output has, and to analyze only the other photos. */
  readonly resume: boolean;
  readonly draw: string | undefined;
  /** The service that analyzes the photos; undefined to analyze them here. */
  readonly server: Server | undefined;
}

const OPTIONS = {
  json: { type: "boolean", default: false },
  jsonl: { type: "boolean", default: false },
  csv: { type: "boolean", default: false },
  embeddings: { type: "boolean", default: false },
  output: { type: "string" },
  resume: { type: "boolean", default: false },
  draw: { type: "string" },
  ...SERVER_OPTIONS,
} as const;

/** Parses the arguments of `visage analyze`. Throws UsageError. */
export function parseAnalyzeOptions(args: readonly string[], config: Config): AnalyzeOptions {
  const { values, positionals } = parseOptions(args, OPTIONS);
  const { embeddings, output, resume, draw } = values;
  if (positionals.length === 0) throw new UsageError("The argument PHOTO is missing");
  const flags = (["json", "jsonl", "csv"] as const).filter((name) => values[name]);
  if (flags.length > 1)
    throw new UsageError(`Options '--${flags[0]}' and '--${flags[1]}' exclude each other`);
  const format = flags[0] ?? formatFromName(output);
  if (embeddings && format !== "json" && format !== "jsonl")
    throw new UsageError("Option '--embeddings' requires '--json' or '--jsonl'");
  if (resume && output === undefined) throw new UsageError("Option '--resume' requires '--output'");
  if (resume && !REPORT_FORMATS[format].isResumable)
    throw new UsageError("Option '--resume' requires '--jsonl'");
  if (/^\.jpe?g$/i.test(extname(draw ?? "")))
    throw new UsageError("Option '--draw' requires a folder or a file name that ends in .png");
  for (const [name, out] of Object.entries({ output, draw }))
    if (out !== undefined && positionals.some((file) => resolve(file) === resolve(out)))
      throw new UsageError(`Option '--${name}' would overwrite '${out}'`);
  const server = findServer(values, config);
  if (server && server.key === undefined)
    throw new UsageError("Option '--key' or VISAGE_KEY is required for a service");
  return { args: positionals, format, embeddings, output, resume, draw, server };
}

function formatFromName(output = ""): FormatName {
  const name = extname(output).slice(1).toLowerCase();
  return name === "json" || name === "jsonl" || name === "csv" ? name : "text";
}
