// Loaded into a worker by `--import`: prints far more than a pipe holds, as native code would, without Node's streams.
import { writeSync } from "node:fs";

const print = () => {
  for (let i = 0; i < 20; i++) {
    try {
      writeSync(2, `${"noise ".repeat(1000)}\n`);
    } catch (fault) {
      // The pipe is full and does not block.
      if (fault.code !== "EAGAIN") throw fault;
    }
  }
};

if (process.argv[1]?.includes("worker")) setInterval(print, 20).unref();
