import { resolve } from "node:path";
import { isUserId, USER_ID_FORMAT } from "./accounts/user-id.ts";
import { type AllowList, parseAllowList } from "./fetch/allow-list.ts";
import { parseTrustedProxies, type TrustedProxies } from "./http/client-address.ts";
import { defaultMaxConnections, MAX_CONNECTIONS } from "./http/limits.ts";
import { DEFAULT_MODELS_DIR } from "./model-manifest.ts";
import { LOG_LEVELS, type LogLevel } from "./telemetry/log.ts";
import { countCpus } from "./workers/cpu-count.ts";

/** What the environment settles, checked. */
export interface Config {
  /** Address to listen at. */
  readonly host: string;
  readonly port: number;
  /** Folder for what is kept between starts. */
  readonly dataDir: string;
  /** The PostgreSQL database of the accounts; without one they are in the data folder. */
  readonly databaseUrl: string | undefined;
  /** Folder of the networks, as an absolute path. */
  readonly modelsDir: string;
  /** The user id that may use the service; without one an id is made and kept in the data folder. */
  readonly trialUser: string | undefined;
  /** Number of worker processes that run the networks. */
  readonly workers: number;
  /** The longest estimated wait for a worker; requests that would wait longer are rejected. */
  readonly maxQueueWaitMs: number;
  readonly maxImageBytes: number;
  readonly maxImagePixels: number;
  readonly maxRequestBytes: number;
  /** Bytes of all request bodies in memory. */
  readonly maxBodyBytesInFlight: number;
  /** Connections that may be open, in all and from one client address. */
  readonly maxConnections: number;
  readonly maxConnectionsPerAddress: number;
  /** The longest that one request may take. */
  readonly requestTimeoutMs: number;
  /** The longest that fetching one image by URL may take, and what may be fetched beside public hosts. */
  readonly fetchTimeoutMs: number;
  readonly fetchAllow: AllowList;
  /** How long a connection may last, give or take a tenth. */
  readonly maxConnectionAgeMs: number;
  /** Proxies whose word is taken on where a request comes from. */
  readonly trustedProxies: TrustedProxies;
  /** How long known users go on while the database of accounts is away. */
  readonly accountsGraceMs: number;
  /** Web pages that may call the service from a browser: any, or those of these origins. */
  readonly corsOrigins: "*" | readonly string[];
  /** Answers as the original service did: errors with HTTP 200, `no match` for strangers. */
  readonly legacy: boolean;
  /** Whether gRPC clients may ask for the descriptors. */
  readonly reflection: boolean;
  /** Whether the pages for people are served. */
  readonly web: boolean;
  readonly logLevel: LogLevel;
  /** The address and port of the metrics; undefined for none. */
  readonly metricsHost: string;
  readonly metricsPort: MetricsPortSetting | undefined;
  /** Address of a collector of traces, and what the service is called there. */
  readonly tracesEndpoint: string | undefined;
  readonly tracesName: string;
  /** How long the service goes on after SIGTERM while balancers notice. */
  readonly drainMs: number;
  /** PEM files of a certificate and its key; with both the port speaks TLS. */
  readonly tlsCert: string | undefined;
  readonly tlsKey: string | undefined;
}

/** The port of the metrics, and whether nobody has chosen it. */
interface MetricsPortSetting {
  readonly port: number;
  readonly isDefault: boolean;
}

/** One variable: what it gives when it is unset, and how its text is read. */
interface Setting<T> {
  readonly name: `VISAGE_${string}` | `OTEL_${string}`;
  readonly default: T;
  /** Throws an Error that says what the text should be. */
  readonly parse: (text: string) => T;
}

/** Variables by their value; an unset variable is missing. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Variables for the settings of a configuration. */
export type Settings<C> = { readonly [Key in keyof C]: Setting<C[Key]> };

const MIB = 1024 * 1024;

const SETTINGS: Settings<Config> = {
  host: { name: "VISAGE_HOST", default: "0.0.0.0", parse: (text) => text },
  port: { name: "VISAGE_PORT", default: 8080, parse: wholeNumber(0, 65_535) },
  dataDir: { name: "VISAGE_DATA_DIR", default: resolve("data"), parse: (text) => resolve(text) },
  databaseUrl: { name: "VISAGE_DATABASE_URL", default: undefined, parse: postgresUrl },
  modelsDir: { name: "VISAGE_MODELS_DIR", default: DEFAULT_MODELS_DIR, parse: (text) => resolve(text) },
  trialUser: { name: "VISAGE_TRIAL_USER", default: undefined, parse: userId },
  workers: { name: "VISAGE_WORKERS", default: countCpus(), parse: wholeNumber(1, 256) },
  maxQueueWaitMs: { name: "VISAGE_MAX_QUEUE_WAIT_MS", default: 1_000, parse: wholeNumber(1, 600_000) },
  maxImageBytes: { name: "VISAGE_MAX_IMAGE_BYTES", default: 10 * MIB, parse: wholeNumber(1, 1024 * MIB) },
  maxImagePixels: {
    name: "VISAGE_MAX_IMAGE_PIXELS",
    default: 40_000_000,
    parse: wholeNumber(1, 1_000_000_000),
  },
  // Two of the largest images, as percent-encoded Base64 or as JSON with line breaks.
  maxRequestBytes: { name: "VISAGE_MAX_REQUEST_BYTES", default: 32 * MIB, parse: wholeNumber(1, 2047 * MIB) },
  maxBodyBytesInFlight: {
    name: "VISAGE_MAX_BODY_BYTES_IN_FLIGHT",
    default: 256 * MIB,
    parse: wholeNumber(MIB, 1024 * 1024 * MIB),
  },
  maxConnections: {
    name: "VISAGE_MAX_CONNECTIONS",
    default: defaultMaxConnections(),
    parse: wholeNumber(1, 1_000_000),
  },
  maxConnectionsPerAddress: {
    name: "VISAGE_MAX_CONNECTIONS_PER_ADDRESS",
    default: MAX_CONNECTIONS.perAddress,
    parse: wholeNumber(1, 1_000_000),
  },
  requestTimeoutMs: { name: "VISAGE_REQUEST_TIMEOUT_MS", default: 30_000, parse: wholeNumber(1, 3_600_000) },
  fetchTimeoutMs: { name: "VISAGE_FETCH_TIMEOUT_MS", default: 5_000, parse: wholeNumber(1, 600_000) },
  fetchAllow: { name: "VISAGE_FETCH_ALLOW", default: parseAllowList(""), parse: parseAllowList },
  maxConnectionAgeMs: {
    name: "VISAGE_MAX_CONNECTION_AGE_MS",
    default: 1_800_000,
    parse: wholeNumber(1_000, 86_400_000),
  },
  trustedProxies: { name: "VISAGE_TRUSTED_PROXIES", default: [], parse: parseTrustedProxies },
  accountsGraceMs: {
    name: "VISAGE_ACCOUNTS_GRACE_MS",
    default: 60_000,
    parse: wholeNumber(0, 86_400_000),
  },
  corsOrigins: { name: "VISAGE_CORS_ORIGINS", default: "*", parse: origins },
  legacy: { name: "VISAGE_LEGACY", default: false, parse: onOrOff },
  reflection: { name: "VISAGE_REFLECTION", default: true, parse: onOrOff },
  web: { name: "VISAGE_WEB", default: true, parse: onOrOff },
  logLevel: { name: "VISAGE_LOG_LEVEL", default: "info", parse: oneOf(LOG_LEVELS) },
  metricsHost: { name: "VISAGE_METRICS_HOST", default: "127.0.0.1", parse: (text) => text },
  metricsPort: {
    name: "VISAGE_METRICS_PORT",
    default: { port: 9464, isDefault: true },
    parse: portOrOff,
  },
  drainMs: { name: "VISAGE_DRAIN_MS", default: 2_000, parse: wholeNumber(0, 600_000) },
  tracesEndpoint: { name: "OTEL_EXPORTER_OTLP_ENDPOINT", default: undefined, parse: httpUrl },
  tracesName: { name: "OTEL_SERVICE_NAME", default: "visage", parse: (text) => text },
  tlsCert: { name: "VISAGE_TLS_CERT", default: undefined, parse: (text) => resolve(text) },
  tlsKey: { name: "VISAGE_TLS_KEY", default: undefined, parse: (text) => resolve(text) },
};

function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < least || value > most)
      throw new Error(`must be a whole number from ${least} to ${most}, not "${text}"`);
    return value;
  };
}

function portOrOff(text: string): MetricsPortSetting | undefined {
  return text === "off" ? undefined : { port: wholeNumber(0, 65_535)(text), isDefault: false };
}

function httpUrl(text: string): string {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) throw new Error("must be an http or https URL");
  return text;
}

function userId(text: string): string {
  if (!isUserId(text)) throw new Error(`must be ${USER_ID_FORMAT}`);
  return text;
}

/** Says nothing of the text when it is wrong, for there may be a password in it. */
function postgresUrl(text: string): string {
  if (!/^postgres(ql)?:\/\//.test(text) || !URL.canParse(text))
    throw new Error("must be an address such as postgres://user:password@host:5432/database");
  return text;
}

function origins(text: string): "*" | readonly string[] {
  if (text === "*") return text;
  const list = text.split(",").map((origin) => origin.trim());
  const wrong = list.find((origin) => !URL.canParse(origin) || new URL(origin).origin !== origin);
  if (wrong !== undefined)
    throw new Error(`must be * or origins such as https://example.org, not "${wrong}"`);
  return list;
}

function oneOf<T extends string>(values: readonly T[]): (text: string) => T {
  return (text) => {
    const value = values.find((known) => known === text);
    if (!value) throw new Error(`must be one of ${values.join(", ")}, not "${text}"`);
    return value;
  };
}

function onOrOff(text: string): boolean {
  if (text !== "on" && text !== "off") throw new Error(`must be on or off, not "${text}"`);
  return text === "on";
}

/** Variables that do not hold what they should. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  /** One for each variable, which it begins with. */
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(faults.join("; "));
    this.faults = faults;
  }
}

/** Reads the configuration; nothing else in the project reads the environment. Throws ConfigError. */
// biome-ignore lint/style/noProcessEnv: the one reader of settings
export function readConfig(env: Environment = process.env): Config {
  const isHalfTls = !env.VISAGE_TLS_CERT !== !env.VISAGE_TLS_KEY;
  return readSettings(
    SETTINGS,
    env,
    isHalfTls ? ["VISAGE_TLS_CERT and VISAGE_TLS_KEY must be set together"] : [],
  );
}

/** The variables that are read, in the order of the documentation. */
export function variableNames(): string[] {
  return Object.values<Setting<unknown>>(SETTINGS).map(({ name }) => name);
}

/**
 * Reads every setting, frozen, or throws one ConfigError with all faults, those that are known already among
 * them. An empty variable counts as unset.
 */
export function readSettings<C extends object>(
  settings: Settings<C>,
  env: Environment,
  known: readonly string[] = [],
): Readonly<C> {
  const faults = [...known];
  const read = (setting: Setting<unknown>) => {
    const text = env[setting.name];
    if (!text) return setting.default;
    try {
      if (text !== text.trim()) throw new Error("must not begin or end with white space");
      return setting.parse(text);
    } catch (fault) {
      faults.push(`${setting.name} ${(fault as Error).message}`);
    }
  };
  const entries = Object.entries<Setting<unknown>>(settings).map(([key, setting]) => [key, read(setting)]);
  if (faults.length > 0) throw new ConfigError(faults);
  return Object.freeze(Object.fromEntries(entries)) as C;
}
