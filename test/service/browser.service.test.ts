import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RunningService } from "../../src/main.ts";
import { startTestService } from "../support/service.ts";

let service: RunningService;
beforeAll(async () => {
  service = await startTestService({ VISAGE_CORS_ORIGINS: "https://pages.example,https://more.example" });
});
afterAll(() => service.close());

function send(method: string, path: string, headers: Record<string, string>): Promise<Response> {
  return fetch(`http://127.0.0.1:${service.port}${path}`, { method, headers });
}

describe.each(["/match_faces", "/face.v1.FaceService/MatchFaces"])("CORS at %s", (path) => {
  const origin = "https://pages.example";

  test("allows the headers of authentication, Connect and gRPC-Web", async () => {
    const preflight = await send("OPTIONS", path, {
      origin,
      "access-control-request-method": "POST",
      "access-control-request-headers": "user_id,content-type,connect-protocol-version,x-grpc-web",
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get("access-control-allow-origin")).toBe(origin);
    expect(preflight.headers.get("access-control-allow-methods")).toContain("POST");
    const allowed = preflight.headers.get("access-control-allow-headers") ?? "";
    for (const name of [
      "authorization",
      "x-api-key",
      "user_id",
      "user_key",
      "content-type",
      "connect-protocol-version",
      "x-grpc-web",
      "grpc-timeout",
    ])
      expect(allowed.split(", ")).toContain(name);
  });

  test("exposes the headers of a response, also of an error", async () => {
    const error = await send("POST", path, { origin, "content-type": "application/json" });
    expect(error.status).toBe(401);
    expect(error.headers.get("access-control-allow-origin")).toBe(origin);
    expect(error.headers.get("access-control-expose-headers")).toMatch(
      /grpc-status.*www-authenticate.*sunset/,
    );
  });

  test("allows only the configured origins", async () => {
    const other = await send("POST", path, { origin: "https://elsewhere.example" });
    expect(other.headers.get("access-control-allow-origin")).toBeNull();
    expect(other.headers.get("vary")).toBe("Origin");
  });
});
