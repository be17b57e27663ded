import { readFile } from "node:fs/promises";
import { openTrialUser } from "./accounts/trial-user.ts";
import type { Config } from "./config.ts";
import { openPool, type Pool } from "./core/index.ts";
import { createImageFetcher } from "./fetch/image-fetcher.ts";
import type { Credentials } from "./one-port.ts";
import { createLog } from "./ops/log.ts";
import { type RunningServer, startServer } from "./server.ts";

/** A service with its workers behind it. */
export interface RunningService extends RunningServer {
  /** The user id that is admitted. */
  readonly userId: string;
  /** The workers, for those who watch them. */
  readonly pool: Pool;
  /** Reads the certificate and its key again. */
  reload(): Promise<void>;
}

/** Opens what the service needs and starts it; it is ready when this resolves. */
export async function startService(config: Config): Promise<RunningService> {
  const userId = await openTrialUser(config.dataDir, config.trialUser);
  const log = createLog(config.logLevel);
  const pool = await openPool({
    modelsDir: config.modelsDir,
    limits: { maxBytes: config.maxImageBytes, maxPixels: config.maxImagePixels },
    workers: config.workers,
    queue: config.queue,
    onLoss: ({ cause, restarts }) => log.error({ event: "worker lost", cause, restarts }),
  });
  const fetcher = createImageFetcher({
    allow: config.fetchAllow,
    timeoutMs: config.fetchTimeoutMs,
    maxBytes: config.maxImageBytes,
  });
  const closeParts = () => Promise.all([pool.close(), fetcher.close()]);
  try {
    const server = await startServer({
      config,
      analyzer: pool,
      fetcher,
      userId,
      log,
      credentials: await readCredentials(config),
    });
    return {
      ...server,
      userId,
      pool,
      reload: async () => {
        const credentials = await readCredentials(config);
        if (credentials) server.renew?.(credentials);
      },
      close: async () => {
        await server.close();
        await closeParts();
      },
    };
  } catch (fault) {
    await closeParts();
    throw fault;
  }
}

async function readCredentials({ tlsCert, tlsKey }: Config): Promise<Credentials | undefined> {
  if (!tlsCert || !tlsKey) return undefined;
  const [cert, key] = await Promise.all([readFile(tlsCert, "utf8"), readFile(tlsKey, "utf8")]);
  return { cert, key };
}
