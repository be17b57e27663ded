// Removes what was generated for TypeScript, so that nothing stays of a definition that is gone. Generated files
// are in the folders below gen/ts; its own files are written by hand, which is why buf must not clean it.
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

for (const entry of readdirSync("gen/ts", { withFileTypes: true }))
  if (entry.isDirectory()) rmSync(join("gen/ts", entry.name), { recursive: true });
