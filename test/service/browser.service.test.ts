import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RunningService } from "../../src/main.ts";
import { startTestService } from "../support/service.ts";

let service: RunningService;
beforeAll(async () => {
  service = await startTestService({ VISAGE_CORS_ORIGINS: "https://pages.example,https://more.example" });
});
afterAll(() => service.close());

function ask(method: string, path: string, headers: Record<string, string>): Promise<Response> {
  return fetch(`http://127.0.0.1:${service.port}${path}`, { method, headers });
}

describe.each(["/match_faces", "/face.v1.FaceService/MatchFaces"])("a page in a browser, at %s", (path) => {
  const origin = "https://pages.example";

  test("may send a user id and the headers of Connect and gRPC-Web", async () => {
    const preflight = await ask("OPTIONS", path, {
      origin,
      "access-control-request-method": "POST",
      "access-control-request-headers": "user_id,content-type,connect-protocol-version,x-grpc-web",
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get("access-control-allow-origin")).toBe(origin);
    expect(preflight.headers.get("access-control-allow-methods")).toContain("POST");
    const allowed = preflight.headers.get("access-control-allow-headers") ?? "";
    for (const name of [
      "user_id",
      "user_key",
      "content-type",
      "connect-protocol-version",
      "x-grpc-web",
      "grpc-timeout",
    ])
      expect(allowed.split(", ")).toContain(name);
  });

  test("may read an answer and its headers, also a refusal", async () => {
    const refusal = await ask("POST", path, { origin, "content-type": "application/json" });
    expect(refusal.status).toBe(401);
    expect(refusal.headers.get("access-control-allow-origin")).toBe(origin);
    expect(refusal.headers.get("access-control-expose-headers")).toContain("grpc-status");
  });

  test("is let in from the configured origins alone", async () => {
    const stranger = await ask("POST", path, { origin: "https://elsewhere.example" });
    expect(stranger.headers.get("access-control-allow-origin")).toBeNull();
    expect(stranger.headers.get("vary")).toBe("Origin");
  });
});
