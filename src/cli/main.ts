#!/usr/bin/env node
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { PACKAGE_ROOT } from "../model-manifest.ts";
import { type Command, complain, UsageError } from "./command.ts";

interface Entry {
  readonly name: string;
  readonly summary: string;
  /** The networks' libraries take long to load, so each command's code is loaded only when it is called. */
  readonly load: () => Promise<Command>;
}

const COMMANDS: readonly Entry[] = [
  {
    name: "serve",
    summary: "serve the four operations over gRPC and HTTP",
    load: () => import("./serve.ts"),
  },
  {
    name: "analyze",
    summary: "find the faces in photos, with age, gender, pose and light",
    load: () => import("./analyze.ts"),
  },
  {
    name: "users",
    summary: "say who may use the service, on which plan and until when",
    load: () => import("./users.ts"),
  },
  {
    name: "plans",
    summary: "say what the users of a plan may do",
    load: () => import("./plans.ts"),
  },
  {
    name: "usage",
    summary: "show what was used in a month",
    load: () => import("./usage.ts"),
  },
];

const HELP_OPTION = { help: { type: "boolean", short: "h" } } as const;
const OPTIONS = { ...HELP_OPTION, version: { type: "boolean", short: "v" } } as const;

// Whoever reads our output may stop early, as `head` does. There is nobody left to tell.
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (fault: NodeJS.ErrnoException) => {
    if (fault.code !== "EPIPE") throw fault;
    process.exit();
  });
}

const [first = "", ...rest] = process.argv.slice(2);
const command = COMMANDS.find(({ name }) => name === first);
try {
  if (command) await call(await command.load(), rest);
  else answer(process.argv.slice(2));
} catch (fault) {
  complain(isMisuse(fault) ? `${misuseOf(fault)}; see "${nameOf(command)} --help"` : messageOf(fault));
}

async function call({ help, run }: Command, args: readonly string[]): Promise<void> {
  const { values } = parseArgs({ args, options: HELP_OPTION, strict: false });
  if (values.help) process.stdout.write(help);
  else await run(args);
}

/** Answers what no command is named for. */
function answer(args: readonly string[]): void {
  const { values, positionals } = parseArgs({ args, options: OPTIONS, allowPositionals: true });
  if (values.help) process.stdout.write(helpText());
  else if (values.version) process.stdout.write(`${readVersion()}\n`);
  else throw new UsageError(positionals[0] ? `Unknown command '${positionals[0]}'` : "No command is given");
}

function helpText(): string {
  const lines = COMMANDS.map(({ name, summary }) => `  ${name.padEnd(10)}${summary}`);
  return `Usage: visage COMMAND

${lines.join("\n")}

  visage COMMAND --help   print what a command takes
  visage --version        print the version
`;
}

function readVersion(): string {
  const text = readFileSync(join(PACKAGE_ROOT, "package.json"), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}

function isMisuse(fault: unknown): fault is Error {
  if (fault instanceof UsageError) return true;
  return fault instanceof Error && "code" in fault && String(fault.code).startsWith("ERR_PARSE_ARGS");
}

/** The first sentence: after it, Node explains at length how dashes work. */
function misuseOf({ message }: Error): string {
  return message.split(/\.?\n|\. |\.$/)[0]!;
}

function nameOf(entry: Entry | undefined): string {
  return entry ? `visage ${entry.name}` : "visage";
}

function messageOf(fault: unknown): string {
  return fault instanceof Error ? fault.message : String(fault);
}
