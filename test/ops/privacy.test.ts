import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { create } from "@bufbuild/protobuf";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  CompareFacesRequestSchema,
  GetFaceVecRequestSchema,
  GetImageAttrRequestSchema,
  MatchFacesRequestSchema,
} from "../../gen/ts/face/v1/face_pb.ts";
import type { RunningService } from "../../src/main.ts";
import { createLog } from "../../src/ops/log.ts";
import { photograph } from "../support/images.ts";
import { type Collector, startCollector } from "../support/otlp.ts";
import { startTestService, USER } from "../support/service.ts";
import { waysIn } from "../support/ways-in.ts";

const STRANGER = "an-id-that-nobody-knows";
const SECRETS = { query: "sesame-in-the-query", path: "sesame-in-the-path", header: "sesame-in-a-header" };

let collector: Collector;
let service: RunningService;
const lines: string[] = [];
const images = createServer((_, response) => response.end(photograph(3)));
beforeAll(async () => {
  collector = await startCollector();
  images.listen(0, "127.0.0.1");
  await once(images, "listening");
  const log = createLog("debug", { write: (line) => void lines.push(line) });
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint, VISAGE_FETCH_ALLOW: "127.0.0.1" };
  service = await startTestService(env, log);
});
afterAll(() => {
  collector.close();
  images.close();
});

test("nothing that was sent or answered is in a log, a metric or a trace", async () => {
  const port = (images.address() as AddressInfo).port;
  const content = (bytes: Uint8Array) => ({ source: { case: "content", value: bytes } as const });
  const url = (text: string) => ({ source: { case: "url", value: text } as const });
  const photo = content(photograph(3));
  const remote = url(`http://127.0.0.1:${port}/${SECRETS.path}?key=${SECRETS.query}`);
  const unreachable = url(`http://127.0.0.1:1/${SECRETS.path}?key=${SECRETS.query}`);
  const inside = url(`http://[::1]/${SECRETS.path}?key=${SECRETS.query}`);
  const broken = content(photograph(3).subarray(0, 5000));
  const answers: string[] = [];
  for (const way of waysIn(service.port, USER)) {
    for (const img of [photo, remote, unreachable, inside, broken, content(Buffer.from("no image"))]) {
      const outcome = await way.ask("getFaceVec", create(GetFaceVecRequestSchema, { img, quality: true }));
      answers.push(
        JSON.stringify(outcome, (_, value) => (typeof value === "bigint" ? String(value) : value)),
      );
    }
  }
  const [way] = waysIn(service.port, USER);
  await way!.ask("getImageAttr", create(GetImageAttrRequestSchema, { imageAttr: photo }));
  await way!.ask("matchFaces", create(MatchFacesRequestSchema, { img1: photo, img2: remote }));
  await way!.ask("compareFaces", create(CompareFacesRequestSchema, { img1: photo, img2: broken }));
  for (const stranger of waysIn(service.port, STRANGER))
    await stranger.ask("getFaceVec", create(GetFaceVecRequestSchema, { img: photo }));
  await fetch(`http://127.0.0.1:${service.port}/get_face_vec?bboxes=${SECRETS.query}`, {
    method: "POST",
    headers: { user_id: USER, "x-secret": SECRETS.header },
    body: `{"img":"${photograph(3).toString("base64").slice(0, 500)}`,
  });

  const metrics = await (await fetch(`http://127.0.0.1:${service.port}/metrics`)).text();
  await service.close();
  const seen = `${lines.join("")}${metrics}${JSON.stringify(collector.spans)}`;
  expect(seen).toContain('"outcome":"UNSUPPORTED_FORMAT"');
  expect(collector.spans.length).toBeGreaterThan(50);

  const vector = JSON.parse(answers[0]!).answer.data.vector as number[];
  expect(vector).toHaveLength(128);
  const base64 = photograph(3).toString("base64");
  for (const secret of [
    USER,
    STRANGER,
    ...Object.values(SECRETS),
    ...vector.slice(0, 8).map((number) => String(Math.abs(number)).slice(0, 8)),
    base64.slice(0, 24),
    base64.slice(3000, 3024),
    photograph(3).subarray(1000, 1012).toString("hex"),
    "face_land_mark",
    "x1",
  ])
    expect(seen, secret).not.toContain(secret);
});
