import { Readable, Writable } from "node:stream";
import type { CommandContext } from "../../src/cli/command.ts";
import { runCommandLine } from "../../src/cli/command-line.ts";
import type { Environment } from "../../src/config.ts";

/** What a command has printed and its exit code. */
export interface CommandResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A stream that keeps what is written. Emits "text" after each write. */
export class TextOutput extends Writable {
  text = "";
  readonly isTTY: boolean;
  readonly columns = 80;

  constructor({ isTTY = false } = {}) {
    super({ decodeStrings: false });
    this.isTTY = isTTY;
  }

  override _write(chunk: string, _encoding: string, done: () => void): void {
    this.text += chunk;
    this.emit("text");
    done();
  }
}

/** Runs a command line in this process. Without settings, the environment is empty. */
export async function runInProcess(
  args: readonly string[],
  env: Environment = {},
  context: Partial<CommandContext> = {},
): Promise<CommandResult> {
  const stdout = new TextOutput();
  const stderr = new TextOutput();
  const code = await runCommandLine(args, {
    env,
    stdin: Readable.from([]),
    stdout,
    stderr,
    interruptSignal: () => new AbortController().signal,
    ...context,
  });
  return { code, stdout: stdout.text, stderr: stderr.text };
}
