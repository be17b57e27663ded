import { readFile } from "node:fs/promises";
import { isKey, KEY_FORMAT } from "../accounts/key.ts";
import type { Config } from "../config.ts";
import { UsageError } from "./command.ts";
import { throwFileError } from "./result-file.ts";

/** A running service, as the command line names it. */
export interface Server {
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

/** Returns the service that the options or VISAGE_URL name; undefined if neither does. Throws UsageError. */
export function findServer(
  values: ServerValues,
  { url, key: defaultKey }: Pick<Config, "url" | "key">,
): Server | undefined {
  const { server, key = defaultKey, ca } = values;
  const address = server === undefined ? url : parseAddress(server);
  if (address === undefined) {
    const needless = (["key", "ca"] as const).find((name) => values[name] !== undefined);
    if (needless) throw new UsageError(`Option '--${needless}' requires '--server' or VISAGE_URL`);
    return undefined;
  }
  if (key !== undefined && !isKey(key)) throw new UsageError(`Option '--key' must be ${KEY_FORMAT}`);
  return { address: address.replace(/\/+$/, ""), key, caFile: ca };
}

/** Reads the certificates of a PEM file. */
export async function readCertificates(file: string | undefined): Promise<Buffer | undefined> {
  if (file === undefined) return undefined;
  return readFile(file).catch((error: unknown) => throwFileError(file, error));
}

function parseAddress(text: string): string {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text))
    throw new UsageError(`Option '--server' must be a URL such as http://localhost:8080, not '${text}'`);
  return text;
}
