import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ServiceProcess, startServiceProcess } from "../../tools/support/service-process.ts";
import { boxOf, cropPhotograph } from "../support/faces.ts";
import { createBombs } from "../support/hostile-images.ts";
import { postImage } from "../support/post-image.ts";

const MAX_GROWTH_BYTES = 200e6;
const face = cropPhotograph(1, boxOf(360, 330, 660, 650));
const jpeg = await face.clone().jpeg().toBuffer();
const png = await face.clone().png().toBuffer();
const bombs = Object.entries(createBombs(jpeg, png));

let service: ServiceProcess;
beforeAll(async () => {
  service = await startServiceProcess({ VISAGE_WORKERS: "2", VISAGE_IMAGE_FORMATS: "jpeg,png,webp" });
});
afterAll(() => service.stop());

// Only /proc reports the memory of other processes simply.
test.skipIf(!existsSync("/proc/self/status"))(
  "50 concurrent decompression bombs take less than 200 MB, and the next request is served",
  async () => {
    for (const image of [jpeg, png, jpeg, png]) await postImage(service.port, image);
    const before = service.memoryBytes("VmRSS");
    const { workers } = service;

    const outcomes = await Promise.all(
      Array.from({ length: 50 }, async (_, i) => {
        const [name, image] = bombs[i % bombs.length]!;
        return { name, ...(await postUntilServed(image)) };
      }),
    );
    expect(outcomes.filter(({ status }) => ![200, 400, 413].includes(status))).toEqual([]);
    expect(service.workers).toEqual(workers);
    expect(service.memoryBytes("VmHWM") - before).toBeLessThan(MAX_GROWTH_BYTES);
    expect((await postImage(service.port, jpeg)).body.data.attributes).toHaveProperty("face_id_0");
  },
);

/** Posts an image and retries while the service sheds load. */
async function postUntilServed(image: Uint8Array): ReturnType<typeof postImage> {
  const answer = await postImage(service.port, image);
  if (answer.status !== 503) return answer;
  await sleep(100);
  return postUntilServed(image);
}
