import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { PACKAGE_ROOT } from "../../src/model-manifest.ts";

/** The first run on a machine downloads and compiles the dependencies of each SDK. */
export const SDK_TIMEOUT_MS = 15 * 60_000;

/** The folder of the photographs `sample1.jpg` (144 KB) to `sample6.jpg`. */
export const PHOTOS = join(PACKAGE_ROOT, "node_modules/@vladmandic/face-api/demo");

/** Python with the packages of sdks/python/requirements-dev.txt. */
export const SDK_PYTHON = join(PACKAGE_ROOT, "node_modules/.cache/sdk-tools/python/bin/python");

/** Installs the pinned generators of a language. */
export async function installGenerators(language: string): Promise<void> {
  await runProgram(PACKAGE_ROOT, process.execPath, ["tools/install-sdk-tools.mjs", language]);
}

/** Runs a program in a folder and returns its output. Throws an error with the output if the program fails. */
export async function runProgram(
  folder: string,
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const options = { cwd: folder, env: { ...process.env, PYTHONDONTWRITEBYTECODE: "1", ...env } };
  try {
    return (await promisify(execFile)(program, args, options)).stdout;
  } catch (fault) {
    const { stdout, stderr } = fault as { stdout: string; stderr: string };
    throw new Error(`${program} ${args.join(" ")} failed:\n${stdout}${stderr}`, { cause: fault });
  }
}
