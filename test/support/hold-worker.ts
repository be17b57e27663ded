import { readFileSync } from "node:fs";

/** Less than the time after which a worker without progress is replaced. */
const NUDGE_INTERVAL_MS = 3_000;
const MAX_NUDGE_MS = 1_000;

/**
 * Stops a worker, so that its job takes as long as the test needs. Now and then the worker may use the least CPU time
 * that can be measured, because one that uses none is replaced. Returns a function that lets it go on.
 */
export function holdWorker(pid: number): () => void {
  process.kill(pid, "SIGSTOP");
  const timer = setInterval(() => {
    const before = readCpuTicks(pid);
    process.kill(pid, "SIGCONT");
    const endMs = performance.now() + MAX_NUDGE_MS;
    while (readCpuTicks(pid) === before && performance.now() < endMs);
    process.kill(pid, "SIGSTOP");
  }, NUDGE_INTERVAL_MS);
  return () => {
    clearInterval(timer);
    process.kill(pid, "SIGCONT");
  };
}

function readCpuTicks(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "latin1").split(") ").at(-1)!.split(" ");
  return Number(fields[11]) + Number(fields[12]);
}
