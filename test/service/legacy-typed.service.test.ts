import { afterAll, beforeAll, expect, test } from "vitest";
import type { RunningService } from "../../src/main.ts";
import { OPEN_STREAM } from "../support/image-streams.ts";
import { photograph } from "../support/images.ts";
import { startTestService, USER } from "../support/service.ts";

let service: RunningService;
beforeAll(async () => {
  service = await startTestService({ VISAGE_LEGACY: "on" });
});
afterAll(() => service.close());

async function post(path: string, user: string, body: string) {
  const response = await fetch(`http://127.0.0.1:${service.port}${path}`, {
    method: "POST",
    headers: { user_id: user, "content-type": "application/json" },
    body,
  });
  return { status: response.status, body: await response.json() };
}

test.each(["/v1/images:analyze", "/v1/faces:compare"])(
  "with VISAGE_LEGACY, errors of %s keep their HTTP status and are a google.rpc.Status",
  async (path) => {
    expect(await post(path, "nobody", "{}")).toMatchObject({
      status: 401,
      body: { code: 16, reason: "UNKNOWN_USER", retryable: false },
    });
    expect(await post(path, USER, "{}")).toMatchObject({
      status: 400,
      body: { code: 3, reason: "BAD_REQUEST", retryable: false },
    });
  },
);

test("with VISAGE_LEGACY, an unknown path below /v1/ keeps its HTTP status and has no envelope", async () => {
  expect(await post("/v1/nothing", USER, "{}")).toMatchObject({
    status: 404,
    body: { code: 12, reason: "NO_SUCH_PATH" },
  });
});

test("with VISAGE_LEGACY, a stream of JSON lines answers as always", async () => {
  expect(await post("/v1/images:analyzeStream", "nobody", "")).toMatchObject({
    status: 401,
    body: { code: 16, reason: "UNKNOWN_USER" },
  });
  const stream = OPEN_STREAM["JSON lines over HTTP/1.1"]!({ port: service.port, user: USER });
  stream.send("0", photograph(3));
  stream.write("nonsense\n");
  stream.end();
  expect(await stream.ended).toBe("ok");
  expect(Object.fromEntries(stream.answers)).toEqual({ 0: 3, "": "BAD_REQUEST" });
});
