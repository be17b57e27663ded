import { once } from "node:events";
import { createInterface } from "node:readline/promises";
import type { CommandContext } from "./command.ts";

/** Asks for confirmation. The input must be a terminal. */
export async function confirm({ stdin, stderr }: CommandContext, question: string): Promise<boolean> {
  const terminal = createInterface({ input: stdin, output: stderr });
  const closed = once(terminal, "close").then(() => "no");
  const answer = await Promise.race([terminal.question(`${question} [y/N] `), closed]);
  terminal.close();
  return /^y(es)?$/i.test(answer.trim());
}
