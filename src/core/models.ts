// The networks of the package, and what was measured with them.
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Calibration, FalseMatchRates } from "./false-match-rates.ts";

/** What the manifest says of a network. */
export interface NetworkEntry {
  readonly title: string;
  readonly licence: string;
  /** Who published the weights. */
  readonly source: string;
  readonly input: {
    readonly shape: readonly (string | number)[];
    /** Range and alignment of the pixels. */
    readonly values: string;
  };
  /** Digest of the file `NAME.onnx`. */
  readonly sha256: string;
}

/** All networks by name. */
export type Manifest = Readonly<Record<string, NetworkEntry>>;

const MANIFEST = "manifest.json";

/** The folder of the networks that come with the package. */
export const DEFAULT_MODELS_DIR = findModels(import.meta.dirname);

/** Reads the manifest of the package's networks, or of another folder's. */
export function readManifest(folder = DEFAULT_MODELS_DIR): Manifest {
  return readJson<Manifest>(folder, MANIFEST);
}

/** Returns the SHA-256 digests of the package's networks by name, or of another folder's. */
export function readDigests(folder?: string): Record<string, string> {
  return Object.fromEntries(Object.entries(readManifest(folder)).map(([name, { sha256 }]) => [name, sha256]));
}

/** Reads the rates of false matches that were measured for the package's networks, or for another folder's. */
export function readCalibration(folder = DEFAULT_MODELS_DIR): Calibration {
  return readJson<Calibration>(folder, "calibration.json");
}

/** Returns the rates of false matches by distance and population. */
export function readFalseMatchRates(): FalseMatchRates {
  return new FalseMatchRates(readCalibration());
}

function readJson<T>(folder: string, name: string): T {
  return JSON.parse(readFileSync(join(folder, name), "utf8")) as T;
}

/** Finds the folder beside the sources, the compiled code or the package. */
function findModels(start: string): string {
  let folder = start;
  while (!existsSync(join(folder, "models", MANIFEST))) {
    if (folder === dirname(folder)) throw new Error(`There is no folder of networks above ${start}.`);
    folder = dirname(folder);
  }
  return join(folder, "models");
}
