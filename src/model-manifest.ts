import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Calibration, FalseMatchRates } from "./core/false-match-rates.ts";

/** A network of the models folder. */
export interface Network {
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
export type Manifest = Readonly<Record<string, Network>>;

/** Root folder of the package, for both the sources and the compiled code. */
export const PACKAGE_ROOT = findPackageRoot(import.meta.dirname);

/** Returns the version of the package. */
export function readVersion(): string {
  const text = readFileSync(join(PACKAGE_ROOT, "package.json"), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}

/** Default folder of the networks. */
export const DEFAULT_MODELS_DIR = join(PACKAGE_ROOT, "models");

/** Reads the manifest of the package. */
export function readManifest(): Manifest {
  return JSON.parse(readFileSync(join(PACKAGE_ROOT, "models/manifest.json"), "utf8")) as Manifest;
}

/** Reads the rates of false matches that were measured for the networks. */
export function readCalibration(): Calibration {
  return JSON.parse(readFileSync(join(PACKAGE_ROOT, "models/calibration.json"), "utf8")) as Calibration;
}

/** Returns the rates of false matches by distance and population. */
export function readFalseMatchRates(): FalseMatchRates {
  return new FalseMatchRates(readCalibration());
}

/** Returns the SHA-256 digests of the network files by network name. */
export function digestsFromManifest(manifest: Manifest): Record<string, string> {
  return Object.fromEntries(Object.entries(manifest).map(([name, { sha256 }]) => [name, sha256]));
}

function findPackageRoot(start: string): string {
  let folder = start;
  while (!existsSync(join(folder, "package.json"))) folder = dirname(folder);
  return folder;
}
