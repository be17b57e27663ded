// Writes the content of the API reference from the OpenAPI document, the error table and the limits. The build of the
// pages includes it in src/web/docs/index.html. Argument: the file to write.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { PACKAGE_ROOT } from "../../src/package-root.ts";
import type { Document } from "./openapi.ts";
import { referencePage } from "./page.ts";

const [target] = process.argv.slice(2);
if (!target) throw new Error("Name the file to write.");
const document = JSON.parse(readFileSync(join(PACKAGE_ROOT, "gen/openapi.json"), "utf8")) as Document;
mkdirSync(dirname(target), { recursive: true });
writeFileSync(target, referencePage(document));
