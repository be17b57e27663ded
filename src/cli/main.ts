#!/usr/bin/env node
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { PACKAGE_ROOT } from "../model-manifest.ts";
import { type Command, reportError, UsageError } from "./command.ts";

interface CommandEntry {
  readonly name: string;
  readonly summary: string;
  /** Loads the module of the command. Some modules load large libraries, so only the called one is loaded. */
  readonly load: () => Promise<Command>;
}

const COMMANDS: readonly CommandEntry[] = [
  {
    name: "serve",
    summary: "run the service",
    load: () => import("./serve.ts"),
  },
  {
    name: "analyze",
    summary: "find faces in photos, with age, gender, pose and brightness",
    load: () => import("./analyze.ts"),
  },
  {
    name: "users",
    summary: "manage users and their subscriptions",
    load: () => import("./users.ts"),
  },
  {
    name: "plans",
    summary: "manage plans and their limits",
    load: () => import("./plans.ts"),
  },
  {
    name: "usage",
    summary: "show the usage of a month",
    load: () => import("./usage.ts"),
  },
];

const HELP_OPTION = { help: { type: "boolean", short: "h" } } as const;
const OPTIONS = { ...HELP_OPTION, version: { type: "boolean", short: "v" } } as const;

// Exit silently when the reader of the output has closed it, as `head` does.
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    process.exit();
  });
}

const [first = "", ...rest] = process.argv.slice(2);
const command = COMMANDS.find(({ name }) => name === first);
try {
  if (command) await runCommand(await command.load(), rest);
  else runWithoutCommand(process.argv.slice(2));
} catch (error) {
  reportError(
    isUsageError(error) ? `${firstSentence(error)}; see "${helpCommand(command)}"` : errorMessage(error),
  );
}

async function runCommand({ help, run }: Command, args: readonly string[]): Promise<void> {
  const { values } = parseArgs({ args, options: HELP_OPTION, strict: false });
  if (values.help) process.stdout.write(help);
  else await run(args);
}

/** Handles options without a command. */
function runWithoutCommand(args: readonly string[]): void {
  const { values, positionals } = parseArgs({ args, options: OPTIONS, allowPositionals: true });
  if (values.help) process.stdout.write(formatHelp());
  else if (values.version) process.stdout.write(`${readVersion()}\n`);
  else
    throw new UsageError(positionals[0] ? `Unknown command '${positionals[0]}'` : "The command is missing");
}

function formatHelp(): string {
  const lines = COMMANDS.map(({ name, summary }) => `  ${name.padEnd(10)}${summary}`);
  return `Usage: visage COMMAND

${lines.join("\n")}

  visage COMMAND --help   print the help of a command
  visage --version        print the version
`;
}

function readVersion(): string {
  const text = readFileSync(join(PACKAGE_ROOT, "package.json"), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}

function isUsageError(error: unknown): error is Error {
  if (error instanceof UsageError) return true;
  return error instanceof Error && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS");
}

/** Returns the first sentence of a message. The rest of Node's messages explains how dashes work. */
function firstSentence({ message }: Error): string {
  return message.split(/\.?\n|\. |\.$/)[0]!;
}

function helpCommand(entry: CommandEntry | undefined): string {
  return entry ? `visage ${entry.name} --help` : "visage --help";
}

function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
