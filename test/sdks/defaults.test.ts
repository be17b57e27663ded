import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { PACKAGE_ROOT } from "../../src/package-root.ts";
import { readMarkdown, sectionUnder, tableRows } from "../support/markdown.ts";

/** Where each client states its defaults, in the order of the rows of the table: a file, and what precedes the number. */
const STATED = {
  TypeScript: [
    ["src/client/operations.ts", /options\.timeoutMs \?\? /],
    ["src/client/operations.ts", /options\.retries \?\? /],
    ["src/client/operations.ts", /options\.maxInFlight \?\? /],
    ["src/client/gallery-import.ts", /BATCH_SIZE = /],
  ],
  Python: [
    ["sdks/python/src/visage/_analysis.py", /timeout: float = /],
    ["sdks/python/src/visage/_analysis.py", /retries: int = /],
    ["sdks/python/src/visage/_analysis.py", /max_in_flight: int = /],
    ["sdks/python/src/visage/_gallery_operations.py", /_IMPORT_BATCH = /],
  ],
  Go: [
    ["sdks/go/client.go", /defaultTimeout\s+= /],
    ["sdks/go/client.go", /defaultRetries\s+= /],
    ["sdks/go/client.go", /defaultMaxInFlight\s+= /],
    ["sdks/go/gallery_transfer.go", /maxImportBatch = /],
  ],
  Java: [
    ["sdks/java/src/main/java/dev/visage/VisageClientBuilder.java", /timeout = Duration\.ofSeconds\(/],
    ["sdks/java/src/main/java/dev/visage/VisageClientBuilder.java", /retries = /],
    ["sdks/java/src/main/java/dev/visage/VisageClientBuilder.java", /maxInFlight = /],
    ["sdks/java/src/main/java/dev/visage/GalleryImport.java", /BATCH = /],
  ],
} as const;

const rows = tableRows(sectionUnder(readMarkdown("docs/clients.md"), "Client packages"), 1);
const documented = rows.map((cells) => parseNumber(cells.at(-1)!));

test.each(Object.entries(STATED))("the client for %s has the documented defaults", (language, places) => {
  const stated = places.map(([file, before]) => {
    const code = readFileSync(join(PACKAGE_ROOT, file), "utf8");
    return parseNumber(new RegExp(`${before.source}(\\d[\\d_]*)`).exec(code)?.[1] ?? "");
  });
  // TypeScript counts in milliseconds.
  if (language === "TypeScript") stated[0]! /= 1000;
  expect(stated).toEqual(documented);
});

function parseNumber(text: string): number {
  return Number.parseFloat(text.replaceAll(/[,_]/g, ""));
}
