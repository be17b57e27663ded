import type { Readable, Writable } from "node:stream";
import type { Environment } from "../config.ts";
import { replaceControlCharacters } from "./format.ts";

/** Exit codes. A command may define others; `match` does. */
export const EXIT_CODES = { ok: 0, failure: 1, usage: 2 } as const;

/** A command of the command line. Each command is a module with these exports. */
export interface Command {
  /** Output of `visage NAME --help`. */
  readonly help: string;
  /** Output of `visage NAME SUBCOMMAND --help`, by subcommand; `help` by default. */
  readonly subcommandHelp?: Readonly<Record<string, string>>;
  /** Exit code of an error other than a usage error; 1 by default. */
  readonly failureCode?: number;
  /** Runs the command with the arguments after its name. Returns the exit code. */
  run(args: readonly string[], context: CommandContext): Promise<number>;
}

/** A stream for text. `columns` is the width of a terminal. */
export type Output = Writable & { readonly isTTY?: boolean; readonly columns?: number };

/** What a command uses of its process. Tests run commands in their own process with another context. */
export interface CommandContext {
  readonly env: Environment;
  readonly stdin: Readable & { readonly isTTY?: boolean };
  /** Results. */
  readonly stdout: Output;
  /** Errors, notes, questions and progress. */
  readonly stderr: Output;
  /**
   * Returns a signal that is aborted when the user stops the command; its reason is an Interruption. From then on, the
   * command must stop by itself.
   */
  interruptSignal(): AbortSignal;
}

/** The user has stopped the command. */
export class Interruption extends Error {
  override readonly name = "Interruption";
  /** Exit code by convention: 128 and the number of the signal. */
  readonly exitCode: number;

  constructor(exitCode: number) {
    super("Interrupted");
    this.exitCode = exitCode;
  }
}

/** An invalid command line. The message is one line without a final period. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** The subcommands of a command by name. Each returns an exit code, or nothing on success. */
export type Subcommands = Readonly<
  Record<string, (args: readonly string[], context: CommandContext) => Promise<number> | Promise<void>>
>;

/** Runs the subcommand that the first argument names. Returns the exit code. */
export async function runSubcommand(
  subcommands: Subcommands,
  [name, ...args]: readonly string[],
  context: CommandContext,
): Promise<number> {
  const names = Object.keys(subcommands).join(", ");
  if (name === undefined) throw new UsageError(`The subcommand is missing; use one of ${names}`);
  if (!Object.hasOwn(subcommands, name))
    throw new UsageError(`Unknown subcommand '${name}'; use one of ${names}`);
  return (await subcommands[name]!(args, context)) ?? EXIT_CODES.ok;
}

/** Returns the help of a command, or of the subcommand that an argument names. */
export function helpOf({ help, subcommandHelp = {} }: Command, subcommand: string | undefined): string {
  const isKnown = subcommand !== undefined && Object.hasOwn(subcommandHelp, subcommand);
  return isKnown ? subcommandHelp[subcommand]! : help;
}

/** Prints a line, or several, to stdout. */
export function print({ stdout }: CommandContext, text: string): void {
  stdout.write(`${text}\n`);
}

/** Prints an error to stderr as one line. */
export function printError({ stderr }: CommandContext, message: string): void {
  const line = message.replaceAll(/\s*[\r\n]+\s*/g, " ");
  stderr.write(`visage: ${replaceControlCharacters(line)}\n`);
}
