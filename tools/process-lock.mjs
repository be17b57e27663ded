import { mkdir, readlink, rm, symlink } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const POLL_MS = 100;

/**
 * Runs a function while no other process holds the lock, and returns its result. The lock of a process that has ended is
 * taken over.
 */
export async function withLock(path, run) {
  await mkdir(dirname(path), { recursive: true });
  while (!(await tryLock(path))) await sleep(POLL_MS);
  try {
    return await run();
  } finally {
    await rm(path, { force: true });
  }
}

async function tryLock(path) {
  try {
    // A link is created together with its content, so that no process sees a lock without its owner.
    await symlink(String(process.pid), path);
    return true;
  } catch (fault) {
    if (fault.code !== "EEXIST") throw fault;
  }
  const owner = await readlink(path).catch(() => undefined);
  if (owner && !isRunning(Number(owner))) await rm(path, { force: true });
  return false;
}

/** Whether a process with this id exists. */
export function isRunning(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (fault) {
    // EPERM: it runs as another user.
    return fault.code === "EPERM";
  }
}
