// Judges what `npm audit --omit=dev --json` says, on its standard input: fails on every advisory that
// tools/audit-accepted.json gives no reason for, and on reasons that are no longer needed.
import { readFileSync } from "node:fs";

const accepted = JSON.parse(readFileSync(new URL("audit-accepted.json", import.meta.url), "utf8"));
const { vulnerabilities, message } = JSON.parse(readFileSync(0, "utf8"));
if (!vulnerabilities) throw new Error(`npm could not ask for advisories: ${message}`);

// Beside advisories there are names, of packages that have the advisory themselves.
const found = Object.values(vulnerabilities)
  .flatMap(({ via }) => via)
  .filter((advisory) => typeof advisory === "object");
const advisories = new Map(found.map((advisory) => [advisory.url.split("/").at(-1), advisory]));

const open = [...advisories].filter(([id]) => !(id in accepted));
const stale = Object.keys(accepted).filter((id) => !advisories.has(id));
for (const [id, { name, severity, title }] of open)
  console.error(`audit: ${id} ${name} (${severity}): ${title}`);
for (const id of stale) console.error(`audit: ${id} is accepted but not reported any more`);
process.exitCode = open.length + stale.length > 0 ? 1 : 0;
