// The workers of the service's model, and those of the previous one, whose galleries are searched until they are migrated.
import type { Config } from "./config.ts";
import {
  type Calibration,
  type FalseMatchRates,
  readCalibration,
  readDigests,
  readFalseMatchRates,
} from "./core/index.ts";
import type { Log } from "./telemetry/log.ts";
import { openPool, type Pool, type PoolOptions } from "./workers/pool.ts";

/** Limit of the output of a process in one log line. */
export const MAX_OUTPUT_CHARACTERS = 4096;

/** Options of the workers that tests set. */
export type StuckOptions = Pick<PoolOptions, "stuckAfterMs">;

/** Starts the workers of the service's model. */
export function openServicePool(config: Config, log: Log, options: StuckOptions): Promise<Pool> {
  return open(config, log, { ...options, modelsDir: config.modelsDir, digests: readDigests() });
}

/** Reads what was measured with the previous model, if its networks are there. */
export function readPreviousCalibration({ previousModelsDir }: Config): Calibration | undefined {
  if (previousModelsDir === undefined) return undefined;
  try {
    return readCalibration(previousModelsDir);
  } catch (error) {
    throw new Error(`VISAGE_PREVIOUS_MODELS_DIR has no networks (${(error as Error).message})`, {
      cause: error,
    });
  }
}

/**
 * Starts workers with the networks of the previous version, if they are there. Throws if this version makes other
 * embeddings with them, because its preprocessing differs.
 */
export async function openPreviousPool(
  config: Config,
  log: Log,
  options: StuckOptions,
): Promise<Pool | undefined> {
  const calibration = readPreviousCalibration(config);
  if (!calibration) return undefined;
  const { model } = calibration;
  const { previousModelsDir: modelsDir } = config;
  const pool = await open(config, log, { ...options, modelsDir, digests: readDigests(modelsDir) });
  if (pool.identity === model) return pool;
  await pool.close();
  throw new Error(
    `VISAGE_PREVIOUS_MODELS_DIR has the networks of ${model}, which are ${pool.identity} with the preprocessing of this version. Unset it, and let the previous version serve its galleries until they are migrated`,
  );
}

/** Reads the rates of false matches. Throws if they were measured with another model. */
export function readRatesOf({ identity }: Pool): FalseMatchRates {
  const rates = readFalseMatchRates();
  if (rates.model !== identity)
    throw new Error(
      `models/calibration.json was measured with ${rates.model}, but the networks are ${identity}.`,
    );
  return rates;
}

function open(
  config: Config,
  log: Log,
  options: Pick<PoolOptions, "modelsDir" | "digests" | "stuckAfterMs">,
): Promise<Pool> {
  return openPool({
    ...options,
    limits: {
      maxBytes: config.maxImageBytes,
      maxPixels: config.maxImagePixels,
      formats: config.imageFormats,
    },
    workers: config.workers,
    providers: config.ortProviders,
    batchSize: config.batchSize,
    maxQueueWaitMs: config.maxQueueWaitMs,
    onWorkerLoss: ({ cause, restarts }) => log.error({ event: "worker lost", cause, restarts }),
    onWorkerReplacement: () => log.info({ event: "worker replaced" }),
    onWorkerOutput: (text) =>
      log.warn({ event: "worker output", text: text.slice(0, MAX_OUTPUT_CHARACTERS) }),
  });
}
