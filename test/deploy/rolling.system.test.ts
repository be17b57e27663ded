import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { openPostgresStore } from "../../src/accounts/postgres-store.ts";
import { createVisageClient } from "../../src/client/visage-client.ts";
import { freePort } from "../../tools/support/free-port.ts";
import { type ServiceProcess, startServiceProcess, USER } from "../../tools/support/service-process.ts";
import { storedCount } from "../support/accounts.ts";
import { photograph } from "../support/images.ts";
import { startNginx } from "../support/nginx.ts";
import { hasPostgres, startPostgres } from "../support/postgres.ts";
import { findTools } from "../support/tools.ts";

const { wanted, paths } = findTools("nginx");
const RETRIES = 4;

/** Asks again and again until told to stop; gives how often it worked, and what went wrong for good. */
function keepAsking(ask: () => Promise<void>): () => Promise<{ successes: number; failures: string[] }> {
  let isOver = false;
  const told = { successes: 0, failures: [] as string[] };
  const asking = (async () => {
    while (!isOver)
      await ask().then(
        () => told.successes++,
        (fault: unknown) => told.failures.push(String(fault)),
      );
  })();
  return async () => {
    isOver = true;
    await asking;
    return told;
  };
}

/** A caller by plain HTTP that does as the documentation says: after 503 or a broken connection it tries again. */
async function askPlainly(port: number): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    const body = new FormData();
    body.append("img", new Blob([photograph(3).slice()]));
    const headers = { user_id: USER };
    const url = `http://127.0.0.1:${port}/get_face_vec`;
    const response = await fetch(url, { method: "POST", headers, body }).catch((fault: unknown) => fault);
    if (response instanceof Response) {
      const { code } = (await response.json().catch(() => ({ code: response.status }))) as { code: string };
      if (code === "1000") return;
      if (attempt >= RETRIES || ![502, 503, 504].includes(response.status)) throw new Error(`code ${code}`);
    } else if (attempt >= RETRIES) throw response;
    await sleep(500 * (attempt + 1));
  }
}

test.skipIf(!wanted || !hasPostgres)(
  "replicas behind nginx are killed, drained and started anew, and no caller who retries sees a failure",
  async () => {
    const postgres = await startPostgres();
    const ports = [await freePort(), await freePort()] as const;
    const start = (port: number) =>
      startServiceProcess({
        VISAGE_PORT: String(port),
        VISAGE_WORKERS: "1",
        VISAGE_DATABASE_URL: postgres.url,
        VISAGE_DRAIN_MS: "500",
      });
    const replicas: ServiceProcess[] = await Promise.all(ports.map(start));
    const nginx = await startNginx(paths.nginx, ports);
    onTestFinished(async () => {
      await nginx.stop();
      await Promise.all(replicas.map((replica) => replica.stop()));
      await postgres.remove();
    });

    const address = `http://127.0.0.1:${nginx.grpcPort}`;
    const client = createVisageClient({ address, userId: USER, retries: RETRIES });
    const stops = [
      keepAsking(() => askPlainly(nginx.httpPort)),
      keepAsking(() => askPlainly(nginx.httpPort)),
      keepAsking(async () => void (await client.getFaceVec(photograph(3)))),
    ];
    await sleep(1500);

    await replicas[0]!.stop("SIGKILL");
    await sleep(1000);
    replicas[0] = await start(ports[0]);
    await sleep(1500);
    await replicas[1]!.stop("SIGTERM");
    replicas[1] = await start(ports[1]);
    await sleep(1500);

    const told = await Promise.all(stops.map((stop) => stop()));
    expect(told.flatMap(({ failures }) => failures)).toEqual([]);
    const successes = told.reduce((sum, one) => sum + one.successes, 0);
    expect(successes).toBeGreaterThan(10);

    // Both counted for the same user; what was killed may have lost less than a second of it.
    await Promise.all(replicas.map((replica) => replica.stop()));
    const store = await openPostgresStore(postgres.url);
    const stored = await storedCount(store);
    await store.close();
    expect(stored).toBeGreaterThan(successes / 2);
    expect(stored).toBeLessThanOrEqual(successes + told.length);
  },
  120_000,
);
