import { readFile } from "node:fs/promises";
import { isKey, KEY_FORMAT } from "../accounts/key.ts";
import { UsageError } from "./command.ts";
import { throwFileError } from "./result-file.ts";

/** A running service, as the command line names it. */
export interface ServerOptions {
  /** URL without a final slash. */
  readonly address: string;
  readonly key: string | undefined;
  /** PEM file of the authorities to trust. */
  readonly caFile: string | undefined;
}

/** The options that name a running service. */
export const SERVER_OPTIONS = {
  server: { type: "string" },
  key: { type: "string" },
  ca: { type: "string" },
} as const;

/** The values of these options. */
export interface ServerValues {
  readonly server?: string | undefined;
  readonly key?: string | undefined;
  readonly ca?: string | undefined;
}

/** Returns the service that the options name; undefined without `--server`. Throws UsageError. */
export function parseServer(values: ServerValues): ServerOptions | undefined {
  const { server, key, ca } = values;
  if (server === undefined) {
    const needless = (["key", "ca"] as const).find((name) => values[name] !== undefined);
    if (needless) throw new UsageError(`Option '--${needless}' requires '--server'`);
    return undefined;
  }
  if (key !== undefined && !isKey(key)) throw new UsageError(`Option '--key' must be ${KEY_FORMAT}`);
  return { address: parseAddress(server), key, caFile: ca };
}

/** Reads the certificates of a PEM file. */
export async function readCertificates(file: string | undefined): Promise<Buffer | undefined> {
  if (file === undefined) return undefined;
  return readFile(file).catch((error: unknown) => throwFileError(file, error));
}

function parseAddress(text: string): string {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text))
    throw new UsageError(`Option '--server' must be a URL such as http://localhost:8080, not '${text}'`);
  return text.replace(/\/+$/, "");
}
