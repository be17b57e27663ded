import { readFileSync } from "node:fs";
import { join } from "node:path";
import { PACKAGE_ROOT } from "../../src/package-root.ts";
import { INITIAL_PLANS, PLAN_LIMITS } from "../../src/plan-limits.ts";
import { ERROR_KINDS, ERRORS, reasonFromKind } from "../../src/service/error-table.ts";
import { grpcName } from "../reference/error-list.ts";

/** The web pages that have their own texts for errors. */
const PAGES = ["playground", "galleries", "accounts"] as const;

/** The content of every file that is written from a table of the code, by its path from the root of the project. */
export function tableFiles(): Readonly<Record<string, string>> {
  return {
    "docs/errors.md": withRows(
      "docs/errors.md",
      "| reason | code | gRPC | HTTP | retry | meaning |",
      errorRows(),
    ),
    "docs/legacy.md": withRows("docs/legacy.md", "| text | errors |", firstGenerationRows()),
    "docs/accounts.md": withRows(
      "docs/accounts.md",
      "| limit | option | meaning | trial | basic | pro |",
      limitRows(),
    ),
    ...Object.fromEntries(PAGES.map((page) => [`gen/page-errors/${page}.json`, pageErrors(page)])),
    "gen/reasons.ts": reasonType(),
  };
}

function errorRows(): string[][] {
  return ERROR_KINDS.map((kind) => {
    const { code, grpc, http, retryable, text } = ERRORS[kind];
    return [reasonFromKind(kind), code, grpcName(grpc), String(http), retryable ? "yes" : "no", text];
  });
}

function firstGenerationRows(): string[][] {
  const texts = new Set(ERROR_KINDS.map((kind) => ERRORS[kind].firstGenerationText));
  return [...texts].map((text) => {
    const kinds = ERROR_KINDS.filter((kind) => ERRORS[kind].firstGenerationText === text);
    return [text, kinds.map(reasonFromKind).join(", ")];
  });
}

/** The limits of plans with their values in the initial ones. The last of these, `unlimited`, has none. */
function limitRows(): string[][] {
  return Object.values(PLAN_LIMITS).map(({ title, option, meaning, initial }) => [
    title,
    `\`--${option}\``,
    meaning,
    ...INITIAL_PLANS.slice(0, -1).map((plan) => String(initial[plan] ?? "none")),
  ]);
}

/** The texts of a page by code, and whether a retry can help. */
function pageErrors(page: (typeof PAGES)[number]): string {
  const entries = ERROR_KINDS.map((kind) => ERRORS[kind])
    .filter((row) => row[page] !== undefined)
    .map((row) => [row.code, { ...row[page], retry: row.retryable }] as const);
  return `${JSON.stringify(Object.fromEntries(entries), undefined, 2)}\n`;
}

/** The type of the reasons, for the TypeScript client. */
function reasonType(): string {
  const reasons = ERROR_KINDS.map((kind) => `\n  | "${reasonFromKind(kind)}"`);
  return `/** The reason of an error of the service. \`npm run generate\` writes it. */\nexport type ServiceReason =${reasons.join("")};\n`;
}

/** Returns a Markdown file with other rows in the table that has this header. */
function withRows(path: string, header: string, rows: readonly (readonly string[])[]): string {
  const text = readFileSync(join(PACKAGE_ROOT, path), "utf8");
  const [before, after] = text.split(`${header}\n`);
  if (after === undefined) throw new Error(`${path} has no table "${header}".`);
  const [separator] = after.split("\n");
  const rest = after.slice(after.search(/^(?!\|)/m));
  const lines = [header, separator!, ...rows.map((cells) => `| ${cells.join(" | ")} |`)];
  return `${before}${lines.join("\n")}\n${rest}`;
}
