import { afterAll, beforeAll, expect, test } from "vitest";
import type { RunningService } from "../../src/main.ts";
import { photograph } from "../support/images.ts";
import { startTestService, USER } from "../support/service.ts";

let service: RunningService;
beforeAll(async () => {
  service = await startTestService({ VISAGE_LEGACY: "on" });
});
afterAll(() => service.close());

async function post(path: string, headers: Record<string, string>, ...files: [string, Buffer][]) {
  const body = new FormData();
  for (const [name, bytes] of files) body.append(name, new Blob([new Uint8Array(bytes)]), "photo.jpg");
  const response = await fetch(`http://127.0.0.1:${service.port}${path}`, { method: "POST", headers, body });
  return { status: response.status, envelope: (await response.json()) as Record<string, unknown> };
}

test("errors have HTTP status 200 and the usual envelope", async () => {
  const invalid = await post("/get_face_vec", { user_id: USER });
  expect(invalid).toMatchObject({ status: 200, envelope: { status: "error", code: "2001", success: false } });
  const unauthenticated = await post("/get_face_vec", {}, ["img", photograph(1)]);
  expect(unauthenticated).toMatchObject({ status: 200, envelope: { code: "4001" } });
});

test("the verdict on two different people is the text of the original service", async () => {
  const { envelope } = await post(
    "/match_faces",
    { user_id: USER },
    ["img_1", photograph(1)],
    ["img_2", photograph(6)],
  );
  expect(envelope).toMatchObject({ data: { status: "no match" } });
});
