import type { Log } from "./log.ts";
import type { RequestObserver } from "./request-summary.ts";

/** What an operation on galleries needs of the database, or of the process that searches. */
type Need = "read" | "write" | "search";

const UNAVAILABLE = "GALLERIES_UNAVAILABLE";
const SUCCESS = "ok";

/** The needs that have been met when an operation with this need succeeds. */
const MET_BY: Readonly<Record<Need, readonly Need[]>> = {
  read: ["read"],
  write: ["read", "write"],
  search: ["read", "search"],
};

const OPERATION =
  /^visage\.v1\.(get|list|export|create|update|delete|enrol|import|identify)_(gallery|galleries|person|people|face|faces)$/;

/**
 * Creates an observer that logs once when operations on galleries fail because of the database, and once when all kinds
 * of operations that failed succeed again: a full disk fails those that write, while others succeed.
 */
export function createGalleryOutageLog(log: Pick<Log, "error" | "info">): RequestObserver {
  const failing = new Set<Need>();
  return ({ operation, outcome }) => {
    const verb = OPERATION.exec(operation)?.[1];
    if (verb === undefined) return;
    const need = needOf(verb);
    const isOutage = failing.size > 0;
    if (outcome === UNAVAILABLE) {
      failing.add(need);
      if (!isOutage) log.error({ event: "galleries unavailable", operation });
    } else if (outcome === SUCCESS && isOutage) {
      for (const met of MET_BY[need]) failing.delete(met);
      if (failing.size === 0) log.info({ event: "galleries available" });
    }
  };
}

function needOf(verb: string): Need {
  if (verb === "identify") return "search";
  return ["get", "list", "export"].includes(verb) ? "read" : "write";
}
