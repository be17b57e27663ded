// The program of the thread that moves the write-ahead log into the database file. Only CheckpointThread starts it.
import { parentPort, workerData } from "node:worker_threads";
import Database from "libsql";
import type { CheckpointMode, CheckpointResult } from "./checkpoint-thread.ts";

const file = new Database(workerData as string);
// A checkpoint that waits for a reader would keep others from writing.
file.exec("pragma busy_timeout = 0");

parentPort!.on("message", (mode: CheckpointMode | "close") => {
  if (mode === "close") {
    file.close();
    parentPort!.close();
  } else parentPort!.postMessage(checkpoint(mode));
});

function checkpoint(mode: CheckpointMode): CheckpointResult {
  try {
    const [row] = file.prepare(`pragma wal_checkpoint(${mode})`).all() as { readonly busy: number }[];
    return { isComplete: row?.busy === 0 };
  } catch (error) {
    return { error: (error as Error).message };
  }
}
