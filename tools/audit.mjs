// Checks the output of `npm audit --omit=dev --json` on standard input. Fails on every advisory that
// tools/audit-accepted.json does not accept, and on accepted advisories that no longer apply.
import { readFileSync } from "node:fs";

const accepted = JSON.parse(readFileSync(new URL("audit-accepted.json", import.meta.url), "utf8"));
const { vulnerabilities, message } = JSON.parse(readFileSync(0, "utf8"));
if (!vulnerabilities) throw new Error(`npm could not fetch the advisories: ${message}`);

// Entries of `via` that are strings are names of packages, which have their own entry.
const found = Object.values(vulnerabilities)
  .flatMap(({ via }) => via)
  .filter((advisory) => typeof advisory === "object");
const advisories = new Map(found.map((advisory) => [advisory.url.split("/").at(-1), advisory]));

const unaccepted = [...advisories].filter(([id]) => !(id in accepted));
const stale = Object.keys(accepted).filter((id) => !advisories.has(id));
for (const [id, { name, severity, title }] of unaccepted)
  console.error(`audit: ${id} ${name} (${severity}): ${title}`);
for (const id of stale) console.error(`audit: ${id} is accepted but no longer applies`);
process.exitCode = unaccepted.length + stale.length > 0 ? 1 : 0;
