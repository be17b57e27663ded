import { readFileSync } from "node:fs";
import { join } from "node:path";
import { PACKAGE_ROOT } from "../../src/package-root.ts";

/** Reads one of the sample photos 1 to 6 of `@vladmandic/face-api`, a development dependency. */
export function readSamplePhoto(number: number): Buffer {
  return readFileSync(join(PACKAGE_ROOT, `node_modules/@vladmandic/face-api/demo/sample${number}.jpg`));
}
