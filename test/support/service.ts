import { DEFAULT_MODELS_DIR } from "../../models/prepare.ts";
import { type Environment, readConfig } from "../../src/config.ts";
import { type RunningService, startService } from "../../src/main.ts";

/** The user id that a service started here admits. */
export const USER = "trial-user-of-tests";

/** Starts a real service on a free port of this machine, with one worker and no log. */
export function startTestService(env: Environment = {}): Promise<RunningService> {
  const config = readConfig({
    VISAGE_MODELS_DIR: DEFAULT_MODELS_DIR,
    VISAGE_TRIAL_USER: USER,
    VISAGE_LOG_LEVEL: "off",
    VISAGE_HOST: "127.0.0.1",
    VISAGE_PORT: "0",
    VISAGE_WORKERS: "1",
    ...env,
  });
  return startService(config);
}
