import { readdirSync, readFileSync } from "node:fs";

/** Resident memory, in bytes, of a process and of each that it started. */
export interface Memory {
  readonly own: number;
  readonly children: readonly number[];
}

/** Reads the memory of a process from what Linux tells; other systems have nothing to read. */
export function readMemory(pid: number): Memory {
  const others = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  const statuses = others.map(statusOf).filter((status) => numberIn(status, "PPid") === pid);
  return { own: residentIn(statusOf(String(pid))), children: statuses.map(residentIn) };
}

function residentIn(status: string): number {
  return 1024 * numberIn(status, "VmRSS");
}

function numberIn(status: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(status)?.[1] ?? 0);
}

/** What the system tells about a process; nothing if it has just ended. */
function statusOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/status`, "utf8");
  } catch {
    return "";
  }
}
