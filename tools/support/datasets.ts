import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { basename, extname, join } from "node:path";
import { parseArgs } from "node:util";
import { AGE_RANGES, type AgeRange, type Box, type Point } from "../../src/core/index.ts";

/** Two photos and whether they show the same person. */
export interface Pair {
  readonly first: string;
  readonly second: string;
  readonly same: boolean;
}

/** A photo with the 68 annotated landmarks of one of its faces. */
export interface AnnotatedPhoto {
  readonly file: string;
  readonly landmarks: readonly Point[];
}

/** A photo of one face with the age and gender that annotators saw. */
export interface Portrait {
  readonly file: string;
  readonly age: AgeRange;
  readonly gender: "male" | "female";
}

/** A portrait with what annotators saw. Nearly all portraits of a set show different people. */
export interface Impostor {
  readonly file: string;
  /** The first year of the age range. */
  readonly age: number;
  readonly gender: "male" | "female";
  readonly group: string;
}

/** A photo with a bounding box around each head. */
export interface Scene {
  readonly file: string;
  readonly boxes: readonly Box[];
}

/** The labelled photos of a data folder. A set that the folder does not have is empty. */
export interface Datasets {
  readonly lfw: readonly Pair[];
  readonly landmarks68: readonly AnnotatedPhoto[];
  readonly fairface: readonly Portrait[];
  readonly detection: readonly Scene[];
  readonly impostors: readonly Impostor[];
}

/**
 * Reads the data folder that the command line names with `--data DIR`. Prints the usage and exits if there is no such
 * folder.
 */
export function readDatasetsFromArguments(): Datasets {
  const { values } = parseArgs({ options: { data: { type: "string" }, help: { type: "boolean" } } });
  const { data, help = false } = values;
  const isFolder = data !== undefined && statSync(data, { throwIfNoEntry: false })?.isDirectory();
  if (data !== undefined && isFolder && !help) return readDatasets(data);
  if (data !== undefined && !help) console.error(`${data} is not a folder.`);
  console.error(
    "Usage: --data DIR\n\n  --data DIR    the folder of labelled photos; bench/README.md describes its layout",
  );
  process.exit(help ? 0 : 1);
}

/** Reads the sets of labelled photos in a folder. */
export function readDatasets(dataDir: string): Datasets {
  const folders = readdirSync(dataDir);
  const read = <T>(prefix: string, readSet: (folder: string) => T[]): T[] => {
    const folder = folders.find((name) => name.startsWith(prefix));
    return folder ? readSet(join(dataDir, folder)) : [];
  };
  return {
    lfw: read("lfw", readPairs),
    landmarks68: read("landmarks68", readAnnotatedPhotos),
    fairface: read("fairface", readPortraits),
    detection: read("detection", readScenes),
    impostors: read("impostors", readImpostors),
  };
}

/** A parameter is fitted on one half of its set and reported on the other. */
export type Split = "fit" | "heldOut";

/** Assigns a photo to a half of its set by a hash of its file name. */
export function splitOfFile(file: string): Split {
  return splitOfName(basename(file));
}

/** Assigns a pair to a half of its set by a hash of its file names. */
export function splitOfPair({ first, second }: Pair): Split {
  return splitOfName(`${basename(first)} ${basename(second)}`);
}

function splitOfName(name: string): Split {
  return createHash("sha256").update(name).digest()[0]! % 2 === 0 ? "fit" : "heldOut";
}

function readPairs(folder: string): Pair[] {
  return readRows(join(folder, "pairs.csv")).map(([first, second, same]) => ({
    first: join(folder, "images", first!),
    second: join(folder, "images", second!),
    same: same === "1",
  }));
}

function readAnnotatedPhotos(folder: string): AnnotatedPhoto[] {
  return readdirSync(folder)
    .filter((name) => extname(name) === ".json")
    .map((name) => ({
      file: join(folder, `${basename(name, ".json")}.jpg`),
      landmarks: (readJson(join(folder, name)) as [number, number][]).map(([x, y]) => ({ x, y })),
    }));
}

function readPortraits(folder: string): Portrait[] {
  return readRows(join(folder, "labels.csv")).map(([file, age, gender]) => ({
    file: join(folder, file!),
    age: ageRangeOf(Number.parseInt(age!, 10)),
    gender: gender === "Male" ? "male" : "female",
  }));
}

function readImpostors(folder: string): Impostor[] {
  return readRows(join(folder, "labels.csv")).map(([file, age, gender, group]) => ({
    file: join(folder, file!),
    age: Number.parseInt(age!, 10),
    gender: gender === "Male" ? "male" : "female",
    group: group!,
  }));
}

function readScenes(folder: string): Scene[] {
  const boxes = readJson(join(folder, "boxes.json")) as Record<string, [number, number, number, number][]>;
  return Object.entries(boxes).map(([file, list]) => ({
    file: join(folder, file),
    boxes: list.map(([x, y, w, h]) => ({ x1: x, y1: y, x2: x + w, y2: y + h })),
  }));
}

/** The age range of the API that contains an age. */
function ageRangeOf(age: number): AgeRange {
  return AGE_RANGES.findLast((range) => age >= Number.parseInt(range, 10))!;
}

function readRows(file: string): string[][] {
  const [, ...lines] = readFileSync(file, "utf8").trim().split(/\r?\n/);
  return lines.map((line) => line.split(","));
}

function readJson(file: string): unknown {
  return JSON.parse(readFileSync(file, "utf8"));
}
