// Long responses leave the event loop to other requests.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RunningService } from "../../src/main.ts";
import { createGalleryClient, MODEL, testPeople } from "../support/galleries.ts";
import { startTestService, USER } from "../support/service.ts";
import { longestTurn } from "../support/turns.ts";

const FACES = 6_000;

let service: RunningService;

beforeAll(async () => {
  service = await startTestService();
  const client = createGalleryClient(service, USER);
  await client.createGallery({ galleryId: "g" });
  const faces = async function* () {
    for (const { personId, faceId, values } of testPeople(FACES, 1))
      yield { galleryId: "g", personId, faceId, embedding: { values, model: MODEL } };
  };
  await client.importFaces(faces());
});
afterAll(() => service.close());

/** Reads a response in another process, as fast as it can. Returns its size. */
async function readElsewhere(path: string, headers: Readonly<Record<string, string>>): Promise<number> {
  const url = `http://127.0.0.1:${service.port}${path}`;
  const program = `
    const response = await fetch(${JSON.stringify(url)}, { headers: ${JSON.stringify(headers)} });
    let size = 0;
    for await (const chunk of response.body) size += chunk.length;
    console.log(size);`;
  const { stdout } = await promisify(execFile)("node", ["--input-type=module", "-e", program]);
  return Number(stdout);
}

describe("an export that is read fast", () => {
  test("is sent in many turns of the event loop", async () => {
    const read = () => readElsewhere("/v1/galleries/g:export", { "x-api-key": USER });
    const { result: size, longestMs, totalMs } = await longestTurn(read);
    expect(size).toBeGreaterThan(FACES * 1_000);
    expect(longestMs).toBeLessThan(totalMs / 4);
  });
});
