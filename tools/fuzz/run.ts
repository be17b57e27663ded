import type { Case } from "./cases.ts";
import { faultOf } from "./property.ts";

/** A case that failed, and how. */
export interface Failure {
  readonly failed: Case;
  readonly fault: string;
}

/** How many requests are under way at a time. */
const LANES = 8;

/** Tries cases until there are no more, or the signal ends it; tells each that fails. Gives how many were tried. */
export async function tryCases(
  port: number,
  cases: Iterator<Case>,
  onFailure: (failure: Failure) => void,
  signal?: AbortSignal,
): Promise<number> {
  let tried = 0;
  const lane = async () => {
    for (let next = cases.next(); !next.done && !signal?.aborted; next = cases.next()) {
      const fault = await faultOf(port, next.value);
      tried++;
      if (fault) onFailure({ failed: next.value, fault });
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  return tried;
}
