import { readFileSync } from "node:fs";

/** The variable that names a file with the secret of another variable. */
export function fileVariable(name: string): string {
  return `${name}_FILE`;
}

/**
 * Reads a secret from its variable, or from the file that NAME_FILE names, without the line break at its end. Throws an
 * Error whose message completes the sentence "NAME_FILE ...", and never has the secret.
 */
export function readSecret(
  env: Readonly<Record<string, string | undefined>>,
  name: string,
): string | undefined {
  const path = env[fileVariable(name)];
  if (!path) return env[name];
  if (env[name]) throw new Error(`must not be set together with ${name}`);
  const secret = readText(path).replace(/\r?\n$/, "");
  if (secret === "") throw new Error("names an empty file");
  return secret;
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new Error(`names a file that cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
}
