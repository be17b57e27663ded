import { mkdir, readlink, rm, symlink } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const POLL_MS = 100;

/**
 * Runs a function while no other process holds the lock, and returns its result. Test files run in processes of their
 * own and may need the same folder. The lock of a process that has ended is taken over.
 */
export async function withLock<Result>(path: string, run: () => Promise<Result>): Promise<Result> {
  await mkdir(dirname(path), { recursive: true });
  while (!(await tryLock(path))) await sleep(POLL_MS);
  try {
    return await run();
  } finally {
    await rm(path, { force: true });
  }
}

async function tryLock(path: string): Promise<boolean> {
  try {
    // A link is created together with its content, so that no process sees a lock without its owner.
    await symlink(String(process.pid), path);
    return true;
  } catch (fault) {
    if ((fault as NodeJS.ErrnoException).code !== "EEXIST") throw fault;
  }
  const owner = await readlink(path).catch(() => undefined);
  if (owner && !isRunning(Number(owner))) await rm(path, { force: true });
  return false;
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (fault) {
    // EPERM: it runs as another user.
    return (fault as NodeJS.ErrnoException).code === "EPERM";
  }
}
