import { resolve } from "node:path";
import { DEFAULT_MODELS_DIR } from "../models/prepare.ts";

/** What the environment settles, checked. */
export interface Config {
  /** Folder of the prepared networks, as an absolute path. */
  readonly modelsDir: string;
}

/** One variable: what it gives when it is unset, and how its text is read. */
interface Setting<T> {
  readonly name: `VISAGE_${string}`;
  readonly default: T;
  /** Throws an Error that says what the text should be. */
  readonly parse: (text: string) => T;
}

/** Variables by their value; an unset variable is missing. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Variables for the settings of a configuration. */
export type Settings<C> = { readonly [Key in keyof C]: Setting<C[Key]> };

const SETTINGS: Settings<Config> = {
  modelsDir: { name: "VISAGE_MODELS_DIR", default: DEFAULT_MODELS_DIR, parse: (text) => resolve(text) },
};

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
export function readConfig(env: Environment = process.env): Config {
  return readSettings(SETTINGS, env);
}

/** The variables that are read, in the order of the documentation. */
export function variableNames(): string[] {
  return Object.values<Setting<unknown>>(SETTINGS).map(({ name }) => name);
}

/** Reads every setting, frozen, or throws one ConfigError with all faults. An empty variable counts as unset. */
export function readSettings<C extends object>(settings: Settings<C>, env: Environment): Readonly<C> {
  const faults: string[] = [];
  const read = (setting: Setting<unknown>) => {
    const text = env[setting.name];
    if (!text) return setting.default;
    try {
      return setting.parse(text);
    } catch (fault) {
      faults.push(`${setting.name} ${(fault as Error).message}`);
    }
  };
  const entries = Object.entries<Setting<unknown>>(settings).map(([key, setting]) => [key, read(setting)]);
  if (faults.length > 0) throw new ConfigError(faults);
  return Object.freeze(Object.fromEntries(entries)) as C;
}
