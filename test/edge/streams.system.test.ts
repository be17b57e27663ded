import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openAccountStore } from "../../src/accounts/open-account-store.ts";
import { USER } from "../../tools/support/service-process.ts";
import { addTestUser } from "../support/accounts.ts";
import { type EdgeService, startEdgeService } from "../support/edge-service.ts";
import { type ImageStream, OPEN_STREAM } from "../support/image-streams.ts";
import { photograph } from "../support/images.ts";

const MIB = 1024 * 1024;
const IMAGE = await sharp(photograph(3)).resize({ width: 480 }).jpeg().toBuffer();
const FACES = 3;
const OTHER_USER = "another-user-of-streams";
const MAX_REQUEST_BYTES = 2 * MIB;
const MAX_BODY_BYTES = 8 * MIB;
/** Generous, because other processes delay the service, too. Without pauses, the lines blocked it for 19 s. */
const MAX_LAG_SECONDS = 0.6;

let service: EdgeService;
beforeAll(async () => {
  service = await startEdgeService({
    VISAGE_MAX_REQUEST_BYTES: String(MAX_REQUEST_BYTES),
    VISAGE_MAX_IMAGE_BYTES: String(MAX_REQUEST_BYTES),
    VISAGE_MAX_BODY_BYTES_IN_FLIGHT: String(MAX_BODY_BYTES),
  });
  const accounts = await openAccountStore({ databaseUrl: undefined, dataDir: service.dataDir });
  await addTestUser(accounts, OTHER_USER);
  await accounts.close();
});
afterAll(() => service.stop("SIGKILL"));

const open = (protocol: string, user = USER) => OPEN_STREAM[protocol]!({ port: service.port, user });

/** Sends images as fast as the service takes them. Returns the outcome of the stream. */
async function sendImages(stream: ImageStream, image: Uint8Array, count: number): Promise<string> {
  let hasEnded = false;
  const ended = stream.ended.then(() => {
    hasEnded = true;
  });
  for (let i = 0; i < count && !hasEnded; i++)
    if (!stream.send(`${i}`, image))
      await Promise.race([ended, new Promise<void>((resolve) => stream.onDrain(resolve))]);
  stream.end();
  return stream.ended;
}

// A machine that pauses looks like a blocked service, but not three times in a row.
describe("a stream does not block the service with", { retry: 2 }, () => {
  test.each([
    ["empty messages", "gRPC", Buffer.alloc(5 * 20_000), 20_000],
    ["lines that are no requests", "JSON lines over HTTP/1.1", Buffer.from("[\n".repeat(20_000)), 20_000],
    ["blank lines", "JSON lines over HTTP/1.1", Buffer.alloc(1_000_000, "\n"), 0],
  ])("%s in masses", async (_, protocol, bytes, answers) => {
    const stream = open(protocol);
    stream.send("0", IMAGE);
    const lag = async () => (await service.metrics()).value("nodejs_eventloop_lag_max_seconds");
    await lag();
    stream.write(bytes);
    stream.end();
    expect(await stream.ended).toBe("ok");
    expect(await lag()).toBeLessThan(MAX_LAG_SECONDS);
    expect(stream.answers).toHaveLength(answers + 1);
  });
});

test("streams of large messages share a full byte budget, and no image is lost", async () => {
  // Bytes behind the end of a JPEG are ignored.
  const large = Buffer.concat([IMAGE, Buffer.alloc(1.4 * MIB - IMAGE.length)]);
  const streams = [USER, USER, OTHER_USER, OTHER_USER].flatMap((user) =>
    Object.keys(OPEN_STREAM).map((protocol) => open(protocol, user)),
  );
  let peak = 0;
  const watch = setInterval(async () => {
    peak = Math.max(peak, (await service.metrics()).value("visage_request_body_memory_bytes"));
  }, 50);
  const outcomes = await Promise.all(streams.map((stream) => sendImages(stream, large, 8)));
  clearInterval(watch);
  expect(new Set(outcomes)).toEqual(new Set(["ok"]));
  for (const { answers } of streams) {
    expect(answers).toHaveLength(8);
    expect(new Set(answers.map(([, result]) => result))).toEqual(new Set([FACES]));
  }
  expect(peak).toBeLessThanOrEqual(MAX_BODY_BYTES + MAX_REQUEST_BYTES);
});
