/** A command of the command line. Each command is a module with these exports. */
export interface Command {
  /** Output of `visage NAME --help`. */
  readonly help: string;
  /** Runs the command with the arguments after its name. */
  run(args: readonly string[]): Promise<void>;
}

/** An invalid command line. The message is one line without a final period. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** The subcommands of a command by name. */
export type Subcommands = Readonly<Record<string, (args: readonly string[]) => Promise<void>>>;

/** Runs the subcommand that the first argument names. */
export async function runSubcommand(
  subcommands: Subcommands,
  [name, ...args]: readonly string[],
): Promise<void> {
  const names = Object.keys(subcommands).join(", ");
  if (name === undefined) throw new UsageError(`The subcommand is missing; use one of ${names}`);
  if (!Object.hasOwn(subcommands, name))
    throw new UsageError(`Unknown subcommand '${name}'; use one of ${names}`);
  await subcommands[name]!(args);
}

/** Prints text to stdout. */
export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Prints an error to stderr as one line and sets the exit code to 1. */
export function reportError(message: string): void {
  process.stderr.write(`visage: ${message.replaceAll(/\s*[\r\n]+\s*/g, " ")}\n`);
  process.exitCode = 1;
}
