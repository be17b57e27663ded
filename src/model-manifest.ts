import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** A file as published: where it stands in its package, what it must hash to, where else it is published. */
export interface SourceFile {
  readonly path: string;
  readonly sha256: string;
  /** The publisher's own address, for when the package cannot be had. */
  readonly mirror?: string;
}

/** Where a network comes from. Without a package, its files stand beside this one. */
export interface Source {
  readonly package?: string;
  readonly format: "tfjs" | "onnx";
  readonly files: readonly SourceFile[];
}

/** One network: its source, its contract, and the digest of the file made from it. */
export interface Network {
  readonly title: string;
  readonly licence: string;
  readonly source: Source;
  readonly input: {
    readonly name: string;
    readonly shape: readonly (string | number)[];
    readonly values: string;
  };
  /** Output name to the source's values that it joins along the second axis. */
  readonly outputs: Readonly<Record<string, readonly string[]>>;
  readonly sha256: string;
}

/** All networks by name; each becomes the file `name.onnx`. */
export type Manifest = Readonly<Record<string, Network>>;

/** The folder of the installed package, whether this runs from source or compiled. */
export const PACKAGE_ROOT = findPackageRoot(import.meta.dirname);

/** Where the networks go unless another folder is named. */
export const DEFAULT_MODELS_DIR = join(PACKAGE_ROOT, "models/built");

/** Reads the manifest that the package ships. */
export function readManifest(): Manifest {
  return JSON.parse(readFileSync(join(PACKAGE_ROOT, "models/manifest.json"), "utf8")) as Manifest;
}

/** SHA-256 of each network's file, by the network's name. */
export function digestsOf(manifest: Manifest): Record<string, string> {
  return Object.fromEntries(Object.entries(manifest).map(([name, { sha256 }]) => [name, sha256]));
}

function findPackageRoot(start: string): string {
  let folder = start;
  while (!existsSync(join(folder, "package.json"))) folder = dirname(folder);
  return folder;
}
