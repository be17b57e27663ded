import { once } from "node:events";
import { createServer } from "node:net";

/** Below the ports that systems give to outgoing connections and to servers that ask for any port. */
const [FIRST_PORT, LAST_PORT] = [15_000, 30_000];
const ATTEMPTS = 20;

/** Finds a free port. Only a program that asks for this very port can take it before it is used. */
export async function freePort(): Promise<number> {
  for (let attempt = 1; ; attempt++) {
    const port = FIRST_PORT + Math.floor(Math.random() * (LAST_PORT - FIRST_PORT));
    const server = createServer().listen(port, "127.0.0.1");
    try {
      await once(server, "listening");
    } catch (error) {
      if (attempt === ATTEMPTS) throw error;
      continue;
    }
    server.close();
    await once(server, "close");
    return port;
  }
}
