import { readFile } from "node:fs/promises";
import { openTrialUser } from "./accounts/trial-user.ts";
import type { Config } from "./config.ts";
import { openPool } from "./core/index.ts";
import type { Credentials } from "./one-port.ts";
import { createLog } from "./ops/log.ts";
import { type RunningServer, startServer } from "./server.ts";

/** A service with its workers behind it. */
export interface RunningService extends RunningServer {
  /** The user id that is admitted. */
  readonly userId: string;
  /** Reads the certificate and its key again. */
  reload(): Promise<void>;
}

/** Opens what the service needs and starts it; it is ready when this resolves. */
export async function startService(config: Config): Promise<RunningService> {
  const userId = await openTrialUser(config.dataDir, config.trialUser);
  const log = createLog(config.logLevel);
  const analyzer = await openPool({
    modelsDir: config.modelsDir,
    limits: { maxBytes: config.maxImageBytes, maxPixels: config.maxImagePixels },
    workers: config.workers,
    queue: config.queue,
    onLoss: ({ cause, restarts }) => log.error({ event: "worker lost", cause, restarts }),
  });
  try {
    const server = await startServer({
      config,
      analyzer,
      userId,
      log,
      credentials: await readCredentials(config),
    });
    return {
      ...server,
      userId,
      reload: async () => {
        const credentials = await readCredentials(config);
        if (credentials) server.renew?.(credentials);
      },
      close: async () => {
        await server.close();
        await analyzer.close();
      },
    };
  } catch (fault) {
    await analyzer.close();
    throw fault;
  }
}

async function readCredentials({ tlsCert, tlsKey }: Config): Promise<Credentials | undefined> {
  if (!tlsCert || !tlsKey) return undefined;
  const [cert, key] = await Promise.all([readFile(tlsCert, "utf8"), readFile(tlsKey, "utf8")]);
  return { cert, key };
}
