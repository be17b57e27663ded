import { expect, onTestFinished, test } from "vitest";
import { startEdgeService } from "../support/edge-service.ts";
import { startCollector } from "../support/otlp.ts";

test("a collector that never answers delays neither requests nor the end of the process", async () => {
  const collector = await startCollector();
  onTestFinished(() => collector.close());
  collector.status = "never";
  const service = await startEdgeService({
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
    // The exporter itself would wait for ten minutes.
    OTEL_EXPORTER_OTLP_TIMEOUT: "600000",
    VISAGE_DRAIN_MS: "0",
  });
  onTestFinished(() => service.stop());
  const send = async () => {
    const response = await fetch(`http://127.0.0.1:${service.port}/get_face_vec`, { method: "POST" });
    await response.arrayBuffer();
    return response.status;
  };
  expect(await send()).toBe(401);
  await expect.poll(() => collector.waiting, { timeout: 60_000 }).toBe(1);
  expect(await send()).toBe(401);
  expect(await service.terminate(60_000)).toBeDefined();
  expect(await service.exitCode).toBe(0);
});
