import { readFileSync } from "node:fs";
import type { AuditLine } from "../../src/audit/audit-line.ts";

/** Reads the lines of an audit trail; of one request, if its id is given. */
export function readAudit(path: string, requestId?: string): Partial<AuditLine>[] {
  const lines = readFileSync(path, "utf8").trim().split("\n").filter(Boolean);
  const parsed = lines.map((line) => JSON.parse(line) as Partial<AuditLine>);
  return requestId === undefined ? parsed : parsed.filter(({ request_id }) => request_id === requestId);
}
