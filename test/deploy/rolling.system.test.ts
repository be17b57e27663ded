import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import { openAccountStore } from "../../src/accounts/open-account-store.ts";
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

/** Sends requests one after the other until it is stopped. */
class LoadClient {
  successes = 0;
  readonly failures: string[] = [];
  readonly #running: Promise<void>;
  #isStopped = false;

  constructor(send: () => Promise<void>) {
    this.#running = this.#run(send);
  }

  stop(): Promise<void> {
    this.#isStopped = true;
    return this.#running;
  }

  async #run(send: () => Promise<void>): Promise<void> {
    while (!this.#isStopped)
      await send().then(
        () => this.successes++,
        (error: unknown) => this.failures.push(String(error)),
      );
  }
}

/** Waits until every client has finished some more requests. */
async function waitForProgress(clients: readonly LoadClient[]): Promise<void> {
  const goals = clients.map(({ successes }) => successes + 3);
  await vi.waitUntil(() => clients.every(({ successes }, i) => successes >= goals[i]!), 60_000);
}

/** Sends a REST request with the documented retries: after 503 or a broken connection. */
async function sendRest(port: number): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    const body = new FormData();
    body.append("img", new Blob([photograph(3).slice()]));
    const headers = { user_id: USER };
    const url = `http://127.0.0.1:${port}/get_face_vec`;
    const response = await fetch(url, { method: "POST", headers, body }).catch((error: unknown) => error);
    if (response instanceof Response) {
      const { code } = (await response.json().catch(() => ({ code: response.status }))) as { code: string };
      if (code === "1000") return;
      if (attempt >= RETRIES || ![502, 503, 504].includes(response.status)) throw new Error(`code ${code}`);
    } else if (attempt >= RETRIES) throw response;
    await sleep(500 * (attempt + 1));
  }
}

test.skipIf(!wanted || !hasPostgres)(
  "clients that retry see no failure while replicas behind nginx are killed, drained and restarted",
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
    const client = createVisageClient({ address, apiKey: USER, retries: RETRIES });
    const clients = [
      new LoadClient(() => sendRest(nginx.httpPort)),
      new LoadClient(() => sendRest(nginx.httpPort)),
      new LoadClient(async () => void (await client.getFaceVec(photograph(3)))),
    ];
    await waitForProgress(clients);
    await replicas[0]!.stop("SIGKILL");
    await waitForProgress(clients);
    replicas[0] = await start(ports[0]);
    await waitForProgress(clients);
    await replicas[1]!.stop("SIGTERM");
    replicas[1] = await start(ports[1]);
    await waitForProgress(clients);

    await Promise.all(clients.map((one) => one.stop()));
    expect(clients.flatMap(({ failures }) => failures)).toEqual([]);
    const successes = clients.reduce((sum, one) => sum + one.successes, 0);

    // Both replicas count for the same user. The killed one may lose the counts of less than a second.
    await Promise.all(replicas.map((replica) => replica.stop()));
    const store = await openAccountStore({ databaseUrl: postgres.url, dataDir: "" });
    const stored = await storedCount(store);
    await store.close();
    expect(stored).toBeGreaterThan(successes / 2);
    expect(stored).toBeLessThanOrEqual(successes + clients.length);
  },
  120_000,
);
