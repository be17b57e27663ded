// The parsers of settings. Each throws an Error whose message completes the sentence "NAME ...".
import { resolve } from "node:path";
import { ADMIN_KEY_FORMAT, isAdminKey } from "./accounts/admin-authenticator.ts";
import { isKey, KEY_FORMAT } from "./accounts/key.ts";
import { EXECUTION_PROVIDERS, type ExecutionProvider } from "./core/index.ts";
import { DEFAULT_IMAGE_FORMATS, IMAGE_FORMATS, type ImageFormat } from "./fetch/image-format.ts";
import { parseMasterKeys } from "./galleries/master-keys.ts";
import { MILVUS_INDEXES } from "./galleries/milvus/milvus-collections.ts";
import { PERMISSION_LIST_FORMAT, type Permission, permissionsFrom } from "./permissions.ts";

/** The port of the metrics server. */
export interface MetricsPort {
  readonly port: number;
  /** Whether the port was not set. Only then may another program use it. */
  readonly isDefault: boolean;
}

/** Those modes of PostgreSQL that do not depend on what the server offers. */
const SSL_MODES: readonly string[] = ["disable", "require", "verify-ca", "verify-full"];

export function parseText(text: string): string {
  return text;
}

export function parsePath(text: string): string {
  return resolve(text);
}

export function parseAuditOutput(text: string): string {
  return text === "stdout" ? text : resolve(text);
}

export function parseInteger(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < min || value > max)
      throw new Error(`must be an integer from ${min} to ${max}, not "${text}"`);
    return value;
  };
}

export function parseMetricsPort(text: string): MetricsPort | undefined {
  return text === "off" ? undefined : { port: parseInteger(0, 65_535)(text), isDefault: false };
}

export function parseHttpUrl(text: string): string {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) throw new Error("must be an http or https URL");
  return text;
}

/** The user and password have a setting of their own, because they are secrets. */
export function parseMilvusUrl(text: string): string {
  const { protocol, origin } = URL.canParse(text) ? new URL(text) : { protocol: "", origin: "" };
  if (!/^https?:$/.test(protocol) || ![origin, `${origin}/`].includes(text))
    throw new Error("must be a URL such as https://milvus.example.org:19530");
  return origin;
}

export const parseMilvusIndex = parseChoice(MILVUS_INDEXES);

export function parseKey(text: string): string {
  if (!isKey(text)) throw new Error(`must be ${KEY_FORMAT}`);
  return text;
}

export function parseAdminKey(text: string): string {
  if (!isAdminKey(text)) throw new Error(`must be ${ADMIN_KEY_FORMAT}`);
  return text;
}

export function parseTemplateKey(text: string): string {
  parseMasterKeys(text);
  return text;
}

/** The error does not repeat the text, because it may contain a password. */
export function parsePostgresUrl(text: string): string {
  if (!/^postgres(ql)?:\/\//.test(text) || !URL.canParse(text))
    throw new Error("must be a URL such as postgres://user:password@host:5432/database");
  const { searchParams } = new URL(text);
  const mode = searchParams.get("sslmode") ?? "disable";
  if (!SSL_MODES.includes(mode)) throw new Error(`must have one of the sslmodes ${SSL_MODES.join(", ")}`);
  if (mode === "verify-ca" && !searchParams.get("sslrootcert"))
    throw new Error("must have sslrootcert with sslmode=verify-ca");
  return text;
}

export function parseOrigins(text: string): "*" | readonly string[] {
  if (text === "*") return text;
  const origins = text.split(",").map((origin) => origin.trim());
  const invalid = origins.find((origin) => !URL.canParse(origin) || new URL(origin).origin !== origin);
  if (invalid !== undefined)
    throw new Error(`must be * or origins such as https://example.org, not "${invalid}"`);
  return origins;
}

/** JPEG and PNG, which clients rely on, cannot be left out. */
export function parseImageFormats(text: string): readonly ImageFormat[] {
  const names = parseList(text, IMAGE_FORMATS);
  const missing = DEFAULT_IMAGE_FORMATS.find((format) => !names.includes(format));
  if (missing !== undefined) throw new Error(`must include ${missing}`);
  return IMAGE_FORMATS.filter((format) => names.includes(format));
}

/** The CPU can run everything, so providers after it would never run anything. */
export function parseProviders(text: string): readonly ExecutionProvider[] {
  const providers = [...new Set(parseList(text, EXECUTION_PROVIDERS))];
  if (providers.slice(0, -1).includes("cpu")) throw new Error("must have cpu last");
  return providers;
}

/** Parses names that are separated by commas. */
function parseList<T extends string>(text: string, known: readonly T[]): readonly T[] {
  return text.split(",").map((part) => {
    const name = known.find((one) => one === part.trim());
    if (name === undefined)
      throw new Error(`must be a list of ${known.join(", ")}, and "${part.trim()}" is none of them`);
    return name;
  });
}

export function parsePermissions(text: string): readonly Permission[] {
  const permissions = permissionsFrom(text.split(",").map((name) => name.trim()));
  if (!permissions) throw new Error(`must be ${PERMISSION_LIST_FORMAT}, not "${text}"`);
  return permissions;
}

export function parseChoice<T extends string>(choices: readonly T[]): (text: string) => T {
  return (text) => {
    const choice = choices.find((known) => known === text);
    if (!choice) throw new Error(`must be one of ${choices.join(", ")}, not "${text}"`);
    return choice;
  };
}

export function parseSwitch(text: string): boolean {
  if (text !== "on" && text !== "off") throw new Error(`must be on or off, not "${text}"`);
  return text === "on";
}
