import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { basename, extname, join } from "node:path";
import { AGE_RANGES, type AgeRange, type Box, type Point } from "../../src/core/index.ts";

/** Two photographs, and whether they show the same person. */
export interface Pair {
  readonly first: string;
  readonly second: string;
  readonly same: boolean;
}

/** A photograph with the 68 points of one of its faces. */
export interface Annotated {
  readonly file: string;
  readonly points: readonly Point[];
}

/** A photograph of a face with how old and of which gender it appeared to annotators. */
export interface Portrait {
  readonly file: string;
  readonly age: AgeRange;
  readonly gender: "male" | "female";
}

/** A photograph with a box around each head. */
export interface Scene {
  readonly file: string;
  readonly boxes: readonly Box[];
}

/** The sets that a data folder holds, each in the subfolder whose name begins so; a missing one is empty. */
export interface Datasets {
  readonly lfw: readonly Pair[];
  readonly landmarks68: readonly Annotated[];
  readonly fairface: readonly Portrait[];
  readonly detection: readonly Scene[];
}

/** Reads the labels of all sets in a folder. */
export function readDatasets(dataDir: string): Datasets {
  const folders = readdirSync(dataDir);
  const read = <T>(prefix: string, readSet: (folder: string) => T[]): T[] => {
    const folder = folders.find((name) => name.startsWith(prefix));
    return folder ? readSet(join(dataDir, folder)) : [];
  };
  return {
    lfw: read("lfw", readPairs),
    landmarks68: read("landmarks68", readAnnotated),
    fairface: read("fairface", readPortraits),
    detection: read("detection", readScenes),
  };
}

/** Which half of its set a photograph (or pair) belongs to: on one we fit, on the other we report. */
export function halfOf(name: string): "fit" | "report" {
  return createHash("sha256").update(basename(name)).digest()[0]! % 2 === 0 ? "fit" : "report";
}

/** The name by which a pair is put into a half. */
export function nameOf({ first, second }: Pair): string {
  return `${basename(first)} ${basename(second)}`;
}

function readPairs(folder: string): Pair[] {
  return readRows(join(folder, "pairs.csv")).map(([first, second, same]) => ({
    first: join(folder, "images", first!),
    second: join(folder, "images", second!),
    same: same === "1",
  }));
}

function readAnnotated(folder: string): Annotated[] {
  return readdirSync(folder)
    .filter((name) => extname(name) === ".json")
    .map((name) => ({
      file: join(folder, `${basename(name, ".json")}.jpg`),
      points: (readJson(join(folder, name)) as [number, number][]).map(([x, y]) => ({ x, y })),
    }));
}

function readPortraits(folder: string): Portrait[] {
  return readRows(join(folder, "labels.csv")).map(([file, age, gender]) => ({
    file: join(folder, file!),
    age: rangeOf(Number.parseInt(age!, 10)),
    gender: gender === "Male" ? "male" : "female",
  }));
}

function readScenes(folder: string): Scene[] {
  const boxes = readJson(join(folder, "boxes.json")) as Record<string, [number, number, number, number][]>;
  return Object.entries(boxes).map(([file, list]) => ({
    file: join(folder, file),
    boxes: list.map(([x, y, w, h]) => ({ x1: x, y1: y, x2: x + w, y2: y + h })),
  }));
}

/** The spec's range that holds the youngest age of a label's span. */
function rangeOf(age: number): AgeRange {
  return AGE_RANGES.findLast((range) => age >= Number.parseInt(range, 10))!;
}

function readRows(file: string): string[][] {
  const [, ...lines] = readFileSync(file, "utf8").trim().split(/\r?\n/);
  return lines.map((line) => line.split(","));
}

function readJson(file: string): unknown {
  return JSON.parse(readFileSync(file, "utf8"));
}
