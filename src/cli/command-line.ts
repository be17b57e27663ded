import { parseArgs } from "node:util";
import { readVersion } from "../package-root.ts";
import { parseOptions } from "./arguments.ts";
import {
  type Command,
  type CommandContext,
  EXIT_CODES,
  helpOf,
  Interruption,
  printError,
  UsageError,
} from "./command.ts";

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
    name: "match",
    summary: "tell whether two photos show the same person",
    load: () => import("./match.ts"),
  },
  {
    name: "galleries",
    summary: "enrol people in galleries of a service, and identify faces",
    load: () => import("./galleries.ts"),
  },
  {
    name: "account",
    summary: "show your own account in a service, and replace its key",
    load: () => import("./account.ts"),
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
    name: "templates",
    summary: "encrypt the templates in the database",
    load: () => import("./templates.ts"),
  },
  {
    name: "usage",
    summary: "show the usage of a month",
    load: () => import("./usage.ts"),
  },
];

const HELP_OPTION = { help: { type: "boolean", short: "h" } } as const;
const OPTIONS = { ...HELP_OPTION, version: { type: "boolean", short: "v" } } as const;

/** Runs a command line. Reports errors on stderr, each as one line. Returns the exit code. */
export async function runCommandLine(args: readonly string[], context: CommandContext): Promise<number> {
  const [first, ...rest] = args;
  const entry = COMMANDS.find(({ name }) => name === first);
  let command: Command | undefined;
  try {
    command = await entry?.load();
    if (command) return await runCommand(command, rest, context);
    if (first === "help") await printHelp(rest, context);
    else runWithoutCommand(args, context);
    return EXIT_CODES.ok;
  } catch (error) {
    if (error instanceof UsageError) {
      printError(
        context,
        `${error.message}; see "${entry ? `visage ${entry.name} --help` : "visage --help"}"`,
      );
      return EXIT_CODES.usage;
    }
    printError(context, error instanceof Error ? error.message : String(error));
    if (error instanceof Interruption) return error.exitCode;
    return command?.failureCode ?? EXIT_CODES.failure;
  }
}

async function runCommand(
  command: Command,
  args: readonly string[],
  context: CommandContext,
): Promise<number> {
  const { values } = parseArgs({ args, options: HELP_OPTION, strict: false });
  if (!values.help) return command.run(args, context);
  context.stdout.write(helpOf(command, args[0]));
  return EXIT_CODES.ok;
}

/** Prints the help of the program, of a command or of a subcommand. */
async function printHelp(args: readonly string[], { stdout }: CommandContext): Promise<void> {
  const [name, subcommand, ...others] = args;
  if (name === undefined) {
    stdout.write(formatHelp());
    return;
  }
  const entry = COMMANDS.find((known) => known.name === name);
  if (!entry) throw new UsageError(`Unknown command '${name}'`);
  const command = await entry.load();
  const hasHelp = subcommand === undefined || Object.hasOwn(command.subcommandHelp ?? {}, subcommand);
  const unexpected = hasHelp ? others[0] : subcommand;
  if (unexpected !== undefined) throw new UsageError(`Unexpected argument '${unexpected}'`);
  stdout.write(helpOf(command, subcommand));
}

/** Handles options without a command. */
function runWithoutCommand(args: readonly string[], { stdout }: CommandContext): void {
  const { values, positionals } = parseOptions(args, OPTIONS);
  if (values.version) stdout.write(`${readVersion()}\n`);
  else if (values.help || args.length === 0) stdout.write(formatHelp());
  else
    throw new UsageError(positionals[0] ? `Unknown command '${positionals[0]}'` : "The command is missing");
}

function formatHelp(): string {
  const lines = COMMANDS.map(({ name, summary }) => `  ${name.padEnd(11)}${summary}`);
  return `Usage: visage COMMAND

${lines.join("\n")}

  visage help COMMAND   print the help of a command; the same as visage COMMAND --help
  visage --version      print the version

The exit code is 0 on success, 1 on an error and 2 if the command line is invalid.
`;
}
