#!/usr/bin/env node
import { constants } from "node:os";
import { EXIT_CODES, Interruption } from "./command.ts";
import { runCommandLine } from "./command-line.ts";

for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", ({ code, message }: NodeJS.ErrnoException) => {
    // Exit silently when the reader of the output has closed it, as `head` does.
    if (code === "EPIPE") process.exit();
    if (stream === process.stdout) process.stderr.write(`visage: The output cannot be written: ${message}\n`);
    process.exit(EXIT_CODES.failure);
  });
}

process.exitCode = await runCommandLine(process.argv.slice(2), {
  // biome-ignore lint/style/noProcessEnv: passed on to the one reader of settings
  env: process.env,
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  interruptSignal,
});

/** Catches the first Ctrl-C or SIGTERM. Another one ends the process at once. */
function interruptSignal(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, () => controller.abort(new Interruption(128 + constants.signals[signal])));
  return controller.signal;
}
