/** What a module in this folder offers so that the command line can call it. */
export interface Command {
  /** What `visage NAME --help` prints. */
  readonly help: string;
  /** Does the work; `args` are what follows the command's name. */
  run(args: readonly string[]): Promise<void>;
}

/** A command line that makes no sense; the message says why, in one line. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** What the actions of a command are called. */
export type Actions = Readonly<Record<string, (args: readonly string[]) => Promise<void>>>;

/** Does what the first argument names, with the arguments that follow. */
export async function runAction(actions: Actions, [name, ...args]: readonly string[]): Promise<void> {
  const names = Object.keys(actions).join(", ");
  if (name === undefined) throw new UsageError(`No action is given, one of ${names}`);
  if (!Object.hasOwn(actions, name)) throw new UsageError(`Unknown action '${name}', not one of ${names}`);
  await actions[name]!(args);
}

/** Prints lines on stdout. */
export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Tells what went wrong, in one line, and lets the process end with exit code 1 when all else is done. */
export function complain(message: string): void {
  process.stderr.write(`visage: ${message.replaceAll(/\s*[\r\n]+\s*/g, " ")}\n`);
  process.exitCode = 1;
}
