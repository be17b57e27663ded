import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Environment, readConfig } from "../../src/config.ts";
import { DEFAULT_MODELS_DIR } from "../../src/core/index.ts";
import { type RunningService, startService } from "../../src/main.ts";
import type { Log } from "../../src/telemetry/log.ts";
import type { PoolOptions } from "../../src/workers/pool.ts";
import { photograph } from "./images.ts";

/** The user id that the started service accepts. */
export const USER = "trial-user-of-tests";

/** An admin key, for tests that start the service with it. */
export const ADMIN_KEY = "admin-key-of-tests-0123456789abcdef";

/** Starts the service in this process on a free port, with one worker, no log and a temporary data folder. */
export async function startTestService(
  env: Environment = {},
  log?: Log,
  pool?: Pick<PoolOptions, "stuckAfterMs">,
): Promise<RunningService> {
  const dataDir = await mkdtemp(join(tmpdir(), "visage-data-"));
  const config = readConfig({
    VISAGE_MODELS_DIR: DEFAULT_MODELS_DIR,
    VISAGE_DATA_DIR: dataDir,
    VISAGE_TRIAL_USER: USER,
    VISAGE_LOG_LEVEL: "off",
    VISAGE_AUDIT: join(dataDir, "audit.jsonl"),
    VISAGE_HOST: "127.0.0.1",
    VISAGE_PORT: "0",
    VISAGE_WORKERS: "1",
    VISAGE_METRICS_PORT: "0",
    // Long, so that tests pass on a slow machine. Tests about overload set their own limit.
    VISAGE_MAX_QUEUE_WAIT_MS: "60000",
    ...env,
  });
  const service = await startService(config, log, pool);
  const close = async () => {
    await service.close();
    await rm(dataDir, { recursive: true });
  };
  return { ...service, close };
}

/** Sends a photograph to a service and returns the HTTP status of the response. */
export async function requestFaceVector({ port }: { readonly port: number }, userId = USER): Promise<number> {
  const body = new FormData();
  body.append("img", new Blob([photograph(3).slice()]));
  const headers = { user_id: userId };
  const response = await fetch(`http://127.0.0.1:${port}/get_face_vec`, { method: "POST", headers, body });
  await response.body?.cancel();
  return response.status;
}
