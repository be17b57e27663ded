import { setTimeout as sleep } from "node:timers/promises";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  SECOND_USER,
  type ServiceProcess,
  startServiceProcess,
  USER,
} from "../../tools/support/service-process.ts";
import { photograph } from "../support/images.ts";
import { type Nginx, startNginx } from "../support/nginx.ts";
import { findTools } from "../support/tools.ts";

const { wanted, paths } = findTools("nginx");
/** More than the queues of two workers hold within VISAGE_MAX_QUEUE_WAIT_MS. */
const GREEDY_CLIENTS = 140;
const POLITE_REQUESTS = 24;

interface Answer {
  readonly status: number;
  readonly type: string | null;
  readonly requestId: string | null;
  readonly retryAfter: string | null;
  readonly body: string;
}

describe.skipIf(!wanted)("overload behind nginx", () => {
  let replicas: ServiceProcess[];
  let nginx: Nginx;
  let photo: Buffer;
  beforeAll(async () => {
    photo = await sharp(photograph(3)).resize(1280).jpeg({ quality: 60 }).toBuffer();
    // Long, so that several jobs fit into the queue of a slow machine.
    const settings = { VISAGE_WORKERS: "1", VISAGE_MAX_QUEUE_WAIT_MS: "4000" };
    replicas = await Promise.all([startServiceProcess(settings), startServiceProcess(settings)]);
    await Promise.all(replicas.map((replica) => replica.addSecondUser()));
    nginx = await startNginx(paths.nginx, [replicas[0]!.port, replicas[1]!.port]);
  });
  afterAll(async () => {
    await nginx?.stop();
    await Promise.all((replicas ?? []).map((replica) => replica.stop()));
  });

  async function send(user: string, requestId: string): Promise<Answer> {
    const body = new FormData();
    body.append("img", new Blob([Uint8Array.from(photo)]));
    const headers = { user_id: user, "x-request-id": requestId };
    const url = `http://127.0.0.1:${nginx.httpPort}/get_face_vec`;
    const response = await fetch(url, { method: "POST", headers, body });
    const read = (name: string) => response.headers.get(name);
    return {
      status: response.status,
      type: read("content-type"),
      requestId: read("x-request-id"),
      retryAfter: read("retry-after"),
      body: await response.text(),
    };
  }

  test("serves the polite user, and the greedy one gets the service's own rejections", async () => {
    const rejections: { readonly id: string; readonly answer: Answer }[] = [];
    let successes = 0;
    let isStopped = false;
    const greedy = Array.from({ length: GREEDY_CLIENTS }, async (_, client) => {
      for (let i = 0; !isStopped; i++) {
        const id = `greedy-${client}-${i}`;
        const answer = await send(USER, id);
        if (answer.status === 200) successes++;
        else {
          rejections.push({ id, answer });
          // The clients must not take the CPU time of the workers.
          await sleep(1_000);
        }
      }
    });
    await expect.poll(() => rejections.length, { timeout: 60_000 }).toBeGreaterThan(GREEDY_CLIENTS);
    const polite: Answer[] = [];
    for (let i = 0; i < POLITE_REQUESTS; i++) polite.push(await send(SECOND_USER, `polite-${i}`));
    isStopped = true;
    await Promise.all(greedy);

    expect(polite.filter(({ status }) => status !== 200)).toEqual([]);
    expect(successes).toBeGreaterThan(0);
    for (const { id, answer } of rejections) {
      expect(answer).toMatchObject({ status: 503, type: "application/json", requestId: id });
      expect(Number(answer.retryAfter)).toBeGreaterThanOrEqual(1);
      expect(JSON.parse(answer.body)).toMatchObject({
        code: "5001",
        data: { reason: "OVERLOADED", retryable: true },
      });
    }
  });
});
