import { resolve } from "node:path";
import { AUDIT_FAILURE_POLICIES, type AuditFailurePolicy } from "./audit/audit-trail.ts";
import {
  DEFAULT_BATCH_SIZE,
  DEFAULT_MODELS_DIR,
  DEFAULT_PROVIDERS,
  type ExecutionProvider,
  MAX_BATCH_SIZE,
} from "./core/index.ts";
import { type AllowList, parseAllowList } from "./fetch/allow-list.ts";
import { DEFAULT_IMAGE_FORMATS, type ImageFormat } from "./fetch/image-format.ts";
import { parseTrustedProxies, type TrustedProxies } from "./http/client-address.ts";
import { defaultMaxConnections, MAX_CONNECTIONS } from "./http/limits.ts";
import type { Permission } from "./permissions.ts";
import { fileVariable, readSecret } from "./secret-files.ts";
import {
  type MetricsPort,
  parseAdminKey,
  parseAuditOutput,
  parseChoice,
  parseHttpUrl,
  parseImageFormats,
  parseInteger,
  parseKey,
  parseMetricsPort,
  parseMilvusIndex,
  parseMilvusUrl,
  parseOrigins,
  parsePath,
  parsePermissions,
  parsePostgresUrl,
  parseProviders,
  parseSwitch,
  parseTemplateKey,
  parseText,
} from "./setting-parsers.ts";
import { LOG_LEVELS, type LogLevel } from "./telemetry/log-level.ts";
import { findUnknownVariables } from "./unknown-variables.ts";
import { countCpus } from "./workers/cpu-count.ts";

/** An environment variable: its default and the parser of its text. */
interface Setting<T> {
  readonly name: `VISAGE_${string}` | `OTEL_${string}`;
  readonly default: T;
  /** Whether its value may be in a file, which NAME_FILE names. */
  readonly isSecret: boolean;
  /** Throws an Error whose message completes the sentence "NAME ...". */
  readonly parse: (text: string) => T;
}

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

const MIB = 1024 * 1024;

const GALLERY_ENGINES = ["memory", "milvus"] as const;
type GalleryEngine = (typeof GALLERY_ENGINES)[number];

/** All settings, in the order of the documentation. */
const SETTINGS = {
  /** Address to listen on. Private by default, because the first start creates a trial user. */
  host: setting("VISAGE_HOST", "127.0.0.1", parseText),
  /** Port to listen on; 0 selects a free port. */
  port: setting("VISAGE_PORT", 8080, parseInteger(0, 65_535)),
  /** Folder for persistent data, as an absolute path. */
  dataDir: setting("VISAGE_DATA_DIR", resolve("data"), parsePath),
  /** PostgreSQL database of the accounts; undefined for an SQLite file in the data folder. */
  databaseUrl: secret("VISAGE_DATABASE_URL", parsePostgresUrl),
  /** Master keys by which the templates of galleries are encrypted; undefined for none. */
  templateKey: secret("VISAGE_TEMPLATE_KEY", parseTemplateKey),
  /** Folder of the networks, as an absolute path. */
  modelsDir: setting("VISAGE_MODELS_DIR", DEFAULT_MODELS_DIR, parsePath),
  /** Folder of the networks of the previous version, with which its galleries are searched. */
  previousModelsDir: setting<string | undefined>("VISAGE_PREVIOUS_MODELS_DIR", undefined, parsePath),
  /** Key of the trial user; undefined to generate one on a loopback address if there are no users. */
  trialUser: secret("VISAGE_TRIAL_USER", parseKey),
  /** Key of the operator for AdminService; undefined to switch the service off. */
  adminKey: secret("VISAGE_ADMIN_KEY", parseAdminKey),
  /** Permissions that nobody has. */
  off: setting<readonly Permission[]>("VISAGE_OFF", [], parsePermissions),
  /** Number of worker processes. */
  workers: setting("VISAGE_WORKERS", countCpus(), parseInteger(1, 256)),
  /** Execution providers of onnxruntime, by preference. */
  ortProviders: setting<readonly ExecutionProvider[]>(
    "VISAGE_ORT_PROVIDERS",
    DEFAULT_PROVIDERS,
    parseProviders,
  ),
  /** Largest number of crops in one run of a network. */
  batchSize: setting("VISAGE_BATCH_SIZE", DEFAULT_BATCH_SIZE, parseInteger(1, MAX_BATCH_SIZE)),
  /** Limit of the estimated wait for a worker. Requests that would wait longer are rejected. */
  maxQueueWaitMs: setting("VISAGE_MAX_QUEUE_WAIT_MS", 1_000, parseInteger(1, 600_000)),
  /** Limit of one encoded image. */
  maxImageBytes: setting("VISAGE_MAX_IMAGE_BYTES", 10 * MIB, parseInteger(1, 1024 * MIB)),
  maxImagePixels: setting("VISAGE_MAX_IMAGE_PIXELS", 40_000_000, parseInteger(1, 1_000_000_000)),
  /** Formats of images that are accepted. */
  imageFormats: setting<readonly ImageFormat[]>(
    "VISAGE_IMAGE_FORMATS",
    DEFAULT_IMAGE_FORMATS,
    parseImageFormats,
  ),
  /** Limit of one request body. The default fits two images of the default limit in every encoding. */
  maxRequestBytes: setting("VISAGE_MAX_REQUEST_BYTES", 32 * MIB, parseInteger(1, 2047 * MIB)),
  /** Limit of all request bodies in memory together. */
  maxBodyBytesInFlight: setting(
    "VISAGE_MAX_BODY_BYTES_IN_FLIGHT",
    256 * MIB,
    parseInteger(MIB, 1024 * 1024 * MIB),
  ),
  /** Limit of open connections. */
  maxConnections: setting("VISAGE_MAX_CONNECTIONS", defaultMaxConnections(), parseInteger(1, 1_000_000)),
  /** Limit of open connections from one client address. */
  maxConnectionsPerAddress: setting(
    "VISAGE_MAX_CONNECTIONS_PER_ADDRESS",
    MAX_CONNECTIONS.perAddress,
    parseInteger(1, 1_000_000),
  ),
  /** Time limit of one request. */
  requestTimeoutMs: setting("VISAGE_REQUEST_TIMEOUT_MS", 30_000, parseInteger(1, 3_600_000)),
  /** Time limit for fetching one image by URL. */
  fetchTimeoutMs: setting("VISAGE_FETCH_TIMEOUT_MS", 5_000, parseInteger(1, 600_000)),
  /** Hosts with private addresses from which images may be fetched. */
  fetchAllow: setting<AllowList>("VISAGE_FETCH_ALLOW", parseAllowList(""), parseAllowList),
  /** Maximum age of a connection, varied by up to 10 %. */
  maxConnectionAgeMs: setting("VISAGE_MAX_CONNECTION_AGE_MS", 1_800_000, parseInteger(1_000, 86_400_000)),
  /** Proxies whose X-Forwarded-For header is trusted. */
  trustedProxies: setting<TrustedProxies>("VISAGE_TRUSTED_PROXIES", [], parseTrustedProxies),
  /** How long known users are admitted while the account database is unavailable. */
  accountsGraceMs: setting("VISAGE_ACCOUNTS_GRACE_MS", 60_000, parseInteger(0, 86_400_000)),
  /** How many of the galleries that were searched last are in memory before the service is ready. */
  readyGalleries: setting("VISAGE_READY_GALLERIES", 0, parseInteger(0, 1_000)),
  galleryMemoryBytes: setting("VISAGE_GALLERY_MEMORY_BYTES", 1024 * MIB, parseInteger(MIB, 65_536 * MIB)),
  /** What searches galleries. */
  galleryEngine: setting<GalleryEngine>("VISAGE_GALLERY_ENGINE", "memory", parseChoice(GALLERY_ENGINES)),
  /** URL of Milvus. */
  milvusUrl: setting<string | undefined>("VISAGE_MILVUS_URL", undefined, parseMilvusUrl),
  /** `user:password` or an API key. */
  milvusToken: secret("VISAGE_MILVUS_TOKEN", parseText),
  /** PEM file of the authorities to trust; undefined for those of Node. */
  milvusCa: setting<string | undefined>("VISAGE_MILVUS_CA", undefined, parsePath),
  milvusDatabase: setting("VISAGE_MILVUS_DATABASE", "default", parseText),
  /** The index of templates in Milvus. */
  milvusIndex: setting<ReturnType<typeof parseMilvusIndex>>("VISAGE_MILVUS_INDEX", "FLAT", parseMilvusIndex),
  /** Origins that may call the service from a browser. */
  corsOrigins: setting<"*" | readonly string[]>("VISAGE_CORS_ORIGINS", "*", parseOrigins),
  /** Whether to respond like the original service (docs/legacy.md). */
  legacy: setting("VISAGE_LEGACY", false, parseSwitch),
  /** Whether gRPC reflection is served. */
  reflection: setting("VISAGE_REFLECTION", true, parseSwitch),
  /** Whether the web pages are served. */
  web: setting("VISAGE_WEB", true, parseSwitch),
  /** Where the audit trail is written: `stdout`, or a file as an absolute path. */
  audit: setting("VISAGE_AUDIT", "stdout", parseAuditOutput),
  /** What audited operations do while the audit trail cannot be written. */
  auditFailure: setting<AuditFailurePolicy>(
    "VISAGE_AUDIT_FAILURE",
    "stop",
    parseChoice(AUDIT_FAILURE_POLICIES),
  ),
  logLevel: setting<LogLevel>("VISAGE_LOG_LEVEL", "info", parseChoice(LOG_LEVELS)),
  /** Address of the metrics server. */
  metricsHost: setting("VISAGE_METRICS_HOST", "127.0.0.1", parseText),
  /** Port of the metrics server; undefined for none. */
  metricsPort: setting<MetricsPort | undefined>(
    "VISAGE_METRICS_PORT",
    { port: 9464, isDefault: true },
    parseMetricsPort,
  ),
  /** How long new requests are accepted after SIGTERM, until load balancers have reacted. */
  drainMs: setting("VISAGE_DRAIN_MS", 2_000, parseInteger(0, 600_000)),
  /** URL of an OTLP/HTTP trace collector. */
  tracesEndpoint: setting<string | undefined>("OTEL_EXPORTER_OTLP_ENDPOINT", undefined, parseHttpUrl),
  /** Name of the service in traces. */
  serviceName: setting<string | undefined>("OTEL_SERVICE_NAME", undefined, parseText),
  /** Further attributes of the service in traces. Parsed later: OpenTelemetry requires to ignore what is invalid. */
  resourceAttributes: setting<string | undefined>("OTEL_RESOURCE_ATTRIBUTES", undefined, parseText),
  /** Which requests are traced, and a number for it. Parsed later, like the attributes. */
  tracesSampler: setting("OTEL_TRACES_SAMPLER", "parentbased_always_on", parseText),
  tracesSamplerArgument: setting<string | undefined>("OTEL_TRACES_SAMPLER_ARG", undefined, parseText),
  /** PEM file of the TLS certificate; undefined for cleartext. */
  tlsCert: setting<string | undefined>("VISAGE_TLS_CERT", undefined, parsePath),
  /** PEM file of the private key of the certificate. */
  tlsKey: setting<string | undefined>("VISAGE_TLS_KEY", undefined, parsePath),
  /** PEM file of the authorities of client certificates; undefined if clients are not asked for one. */
  tlsClientCa: setting<string | undefined>("VISAGE_TLS_CLIENT_CA", undefined, parsePath),
  /** URL of the service that the command line calls. */
  url: setting<string | undefined>("VISAGE_URL", undefined, parseHttpUrl),
  /** Key that the command line sends to a running service. */
  key: secret("VISAGE_KEY", parseKey),
};

/** The validated configuration. */
export type Config = {
  readonly [Key in keyof typeof SETTINGS]: (typeof SETTINGS)[Key]["default"];
};

/** An invalid configuration. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";

  /** Each fault starts with the name of its variable. */
  constructor(faults: readonly string[]) {
    super(faults.join("; "));
  }
}

/**
 * Reads the configuration from the environment; no other module reads the environment. An empty variable counts as
 * unset, and an unknown variable of ours is a fault. Throws one ConfigError with all faults.
 */
// biome-ignore lint/style/noProcessEnv: the one reader of settings
export function readConfig(env: Environment = process.env): Config {
  const faults = findUnknownVariables(env, [...variableNames(), ...fileVariableNames()]);
  if (!env.VISAGE_TLS_CERT !== !env.VISAGE_TLS_KEY)
    faults.push("VISAGE_TLS_CERT and VISAGE_TLS_KEY must be set together");
  if (env.VISAGE_TLS_CLIENT_CA && !env.VISAGE_TLS_CERT)
    faults.push("VISAGE_TLS_CLIENT_CA requires VISAGE_TLS_CERT and VISAGE_TLS_KEY");
  if (env.VISAGE_GALLERY_ENGINE === "milvus" && !env.VISAGE_MILVUS_URL)
    faults.push("VISAGE_GALLERY_ENGINE=milvus requires VISAGE_MILVUS_URL");
  const readText = ({ name, isSecret }: Setting<unknown>): string | undefined => {
    if (!isSecret) return env[name];
    try {
      return readSecret(env, name);
    } catch (error) {
      faults.push(`${fileVariable(name)} ${(error as Error).message}`);
    }
  };
  const read = (setting: Setting<unknown>): unknown => {
    const { name, default: defaultValue, parse } = setting;
    const text = readText(setting);
    if (!text) return defaultValue;
    try {
      if (text !== text.trim()) throw new Error("must not start or end with white space");
      return parse(text);
    } catch (error) {
      faults.push(`${name} ${(error as Error).message}`);
    }
  };
  const entries = Object.entries<Setting<unknown>>(SETTINGS).map(([key, value]) => [key, read(value)]);
  if (faults.length > 0) throw new ConfigError(faults);
  return Object.freeze(Object.fromEntries(entries)) as Config;
}

/** Returns the names of all variables, in the order of the documentation. */
export function variableNames(): string[] {
  return Object.values<Setting<unknown>>(SETTINGS).map(({ name }) => name);
}

/** Returns the names of the variables that name files with secrets. */
export function fileVariableNames(): string[] {
  return Object.values<Setting<unknown>>(SETTINGS)
    .filter(({ isSecret }) => isSecret)
    .map(({ name }) => fileVariable(name));
}

function setting<T>(
  name: Setting<T>["name"],
  defaultValue: NoInfer<T>,
  parse: (text: string) => T,
): Setting<T> {
  return { name, default: defaultValue, isSecret: false, parse };
}

function secret(name: Setting<string>["name"], parse: (text: string) => string): Setting<string | undefined> {
  return { name, default: undefined, isSecret: true, parse };
}
