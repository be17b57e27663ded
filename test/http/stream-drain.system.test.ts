import { setTimeout as delay } from "node:timers/promises";
import sharp from "sharp";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { LIMITS } from "../../src/http/limits.ts";
import { USER } from "../../tools/support/service-process.ts";
import { type EdgeService, startEdgeService } from "../support/edge-service.ts";
import { type ImageStream, OPEN_STREAM } from "../support/image-streams.ts";
import { photograph } from "../support/images.ts";

const IMAGE = await sharp(photograph(3)).resize({ width: 480 }).jpeg().toBuffer();
const FACES = 3;
const DRAIN_MS = 500;
/** Long, because other processes may slow the service down. */
const WAIT = { timeout: 20_000 };

async function startService(isTls: boolean, settings: Record<string, string>): Promise<EdgeService> {
  const service = await startEdgeService({ VISAGE_MAX_QUEUE_WAIT_MS: "60000", ...settings }, { tls: isTls });
  onTestFinished(() => service.stop("SIGKILL"));
  return service;
}

/** Opens a stream over each protocol. */
function openStreams({ port, isTls }: EdgeService): ImageStream[] {
  return Object.values(OPEN_STREAM).map((open) => open({ port, isTls, user: USER }));
}

describe.each([
  ["cleartext", false],
  ["TLS", true],
])("over %s", (_, isTls) => {
  test("SIGTERM ends streams after the images in progress", async () => {
    const service = await startService(isTls, { VISAGE_DRAIN_MS: String(DRAIN_MS) });
    const [worker] = service.workerPids();
    process.kill(worker!, "SIGSTOP");
    const streams = openStreams(service);
    for (const stream of streams) stream.send("0", IMAGE);
    await vi.waitFor(async () => {
      const snapshot = await service.metrics();
      const jobs = snapshot.value("visage_workers_busy") + snapshot.value("visage_queue_depth");
      expect(jobs).toBe(streams.length);
    }, WAIT);
    const start = performance.now();
    process.kill(service.pid, "SIGTERM");
    await delay(DRAIN_MS + 500);
    process.kill(worker!, "SIGCONT");
    for (const stream of streams) {
      expect(await stream.ended).toBe("DRAINING");
      expect(stream.answers).toEqual([["0", FACES]]);
    }
    expect(await service.exitCode).toBe(0);
    expect(performance.now() - start).toBeLessThan(LIMITS.streamIdleMs);
  });

  test("SIGTERM ends streams that wait for their client", async () => {
    const service = await startService(isTls, { VISAGE_DRAIN_MS: String(DRAIN_MS) });
    const streams = openStreams(service);
    const [first] = streams;
    first!.send("0", IMAGE);
    await expect.poll(() => first!.answers).toHaveLength(1);
    const start = performance.now();
    process.kill(service.pid, "SIGTERM");
    for (const stream of streams) expect(await stream.ended).toBe("DRAINING");
    expect(await service.exitCode).toBe(0);
    expect(performance.now() - start).toBeLessThan(LIMITS.streamIdleMs);
  });

  test("the age limit of a connection ends its stream after the images in progress", async () => {
    const service = await startService(isTls, { VISAGE_MAX_CONNECTION_AGE_MS: "2000" });
    const streams = openStreams(service);
    const sent = streams.map(() => 0);
    for (const [i, stream] of streams.entries()) {
      const send = () => {
        while (stream.send(`${sent[i]!++}`, IMAGE));
        stream.onDrain(send);
      };
      send();
    }
    for (const stream of streams) {
      expect(await stream.ended).toBe("DRAINING");
      const keys = stream.answers.map(([key]) => Number(key)).toSorted((a, b) => a - b);
      expect(keys.length).toBeGreaterThan(0);
      expect(keys).toEqual(keys.map((__, i) => i));
      expect(new Set(stream.answers.map(([, result]) => result))).toEqual(new Set([FACES]));
    }
    const again = OPEN_STREAM.gRPC!({ port: service.port, isTls, user: USER });
    again.send("again", IMAGE);
    again.end();
    expect(await again.ended).toBe("ok");
    expect(await service.waitUntilIdle(WAIT.timeout)).toBe(0);
  });
});
