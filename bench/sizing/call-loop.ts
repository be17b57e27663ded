import { Pool } from "undici";
import { USER } from "../../tools/support/service-process.ts";

const IN_FLIGHT = 8;

/** Sends the JSON bodies in turn to a path for this long, several at a time. Returns the number of requests. Throws if one fails. */
export async function callInLoop(
  port: number,
  path: string,
  bodies: readonly string[],
  seconds: number,
): Promise<number> {
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections: IN_FLIGHT });
  const headers = { "x-api-key": USER, "content-type": "application/json" };
  const endMs = performance.now() + 1_000 * seconds;
  let count = 0;
  const runClient = async () => {
    while (performance.now() < endMs) {
      const body = bodies[count++ % bodies.length]!;
      const response = await pool.request({ method: "POST", path, headers, body });
      const text = await response.body.text();
      if (response.statusCode !== 200) throw new Error(`${path} failed: ${text.slice(0, 200)}`);
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, runClient));
  await pool.close();
  return count;
}
