// Writes the files that come from tables of the code. `npm run generate` runs it.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { PACKAGE_ROOT } from "../../src/package-root.ts";
import { tableFiles } from "./table-files.ts";

for (const [path, text] of Object.entries(tableFiles())) {
  const file = join(PACKAGE_ROOT, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
