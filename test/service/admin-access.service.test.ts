import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { AccountService } from "../../gen/ts/visage/v1/account_pb.ts";
import { AdminService } from "../../gen/ts/visage/v1/admin_pb.ts";
import type { RunningService } from "../../src/main.ts";
import { createLog } from "../../src/telemetry/log.ts";
import { sendRaw } from "../support/raw-http.ts";
import { ADMIN_KEY, requestFaceVector, startTestService, USER } from "../support/service.ts";
import { createRestClient, createUnaryClients } from "../support/unary-clients.ts";

const { method } = AdminService;

let service: RunningService;
const lines: string[] = [];
beforeAll(async () => {
  const settings = {
    VISAGE_ADMIN_KEY: ADMIN_KEY,
    VISAGE_TRUSTED_PROXIES: "127.0.0.1",
    VISAGE_CORS_ORIGINS: "*",
  };
  const log = createLog("info", {
    write: (line) => void lines.push(line),
    dropped: 0,
    flush: async () => {},
  });
  service = await startTestService(settings, log);
});
afterAll(() => service.close());

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

describe("AdminService: nobody else", () => {
  const from = (address: string, headers: Record<string, string>) =>
    createUnaryClients(service.port, { ...headers, "x-forwarded-for": address });

  test.each<[string, Record<string, string>]>([
    ["without a key", {}],
    ["with the key of a user", bearer(USER)],
    ["with the admin key as user_id", { user_id: ADMIN_KEY }],
    ["with the admin key as x-api-key", { "x-api-key": ADMIN_KEY }],
    ["with the admin key in another scheme", { authorization: `Basic ${ADMIN_KEY}` }],
    ["with a part of the admin key", bearer(ADMIN_KEY.slice(0, -1))],
  ])("is admitted %s", async (title, headers) => {
    for (const client of from(`198.51.100.${title.length}`, headers))
      await expect(client.call(method.listUsers, {}), client.name).rejects.toThrow("NO_ADMIN_KEY");
  });

  test("is admitted with the admin key in the query", async () => {
    const query = `?user_id=${ADMIN_KEY}&key=${ADMIN_KEY}&access_token=${ADMIN_KEY}`;
    const response = await fetch(`http://127.0.0.1:${service.port}/v1/admin/users${query}`);
    expect(response.status).toBe(401);
    expect(response.headers.get("www-authenticate")).toContain("Bearer");
  });

  test.each<[string, string]>([
    ["one character", "x"],
    ["a key of the same length", "x".repeat(ADMIN_KEY.length)],
    ["the key twice", ADMIN_KEY.repeat(2)],
    ["the key with one more character", `${ADMIN_KEY}x`],
    ["the key in upper case", ADMIN_KEY.toUpperCase()],
    ["bytes beyond ASCII", `${ADMIN_KEY.slice(0, -1)}\xff`],
    ["UTF-8", Buffer.from(`${ADMIN_KEY}é`).toString("latin1")],
    ["a token of 15,000 characters", "x".repeat(15_000)],
    ["two tokens", `${ADMIN_KEY}\r\nAuthorization: Bearer other`],
    ["the key beside a space", `${ADMIN_KEY} x`],
  ])("is admitted with %s as a token", async (title, token) => {
    const head = ["GET /v1/admin/plans HTTP/1.1", "Host: a", `X-Forwarded-For: 198.51.100.1${title.length}`];
    const request = `${[...head, `Authorization: Bearer ${token}`].join("\r\n")}\r\n\r\n`;
    const { status, body } = await sendRaw(service.port, Buffer.from(request, "latin1"));
    expect(status).toBe(401);
    expect(JSON.parse(body)).toMatchObject({ reason: "NO_ADMIN_KEY" });
  });

  test("learns the admin key from the log", () => {
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.join()).not.toContain(ADMIN_KEY);
  });

  test("can use the admin key as the key of a user", async () => {
    for (const headers of [bearer(ADMIN_KEY), { user_id: ADMIN_KEY }])
      for (const client of from("198.51.100.99", headers))
        await expect(client.call(AccountService.method.getAccount, {})).rejects.toThrow("UNKNOWN_USER");
    expect(await requestFaceVector(service, ADMIN_KEY)).toBe(401);
  });

  test("can guess the key: after ten failures an address waits, even with the right one", async () => {
    const headers = { "x-forwarded-for": "198.51.100.200" };
    const ask = async (key: string) => {
      const response = await fetch(`http://127.0.0.1:${service.port}/v1/admin/plans`, {
        headers: { ...headers, ...bearer(key) },
      });
      await response.body?.cancel();
      return response;
    };
    const statuses: number[] = [];
    for (let i = 0; i < 12; i++) statuses.push((await ask(`guess-${i}`)).status);
    expect(statuses.slice(0, 10)).toEqual(Array(10).fill(401));
    const last = await ask(ADMIN_KEY);
    expect(last.status).toBe(429);
    expect(Number(last.headers.get("retry-after"))).toBeGreaterThan(0);
    for (const client of from("198.51.100.200", bearer(ADMIN_KEY)))
      await expect(client.call(method.listPlans, {}), client.name).rejects.toThrow("TOO_MANY_REQUESTS");
    const admin = createRestClient(service.port, bearer(ADMIN_KEY));
    expect((await admin.call(method.listPlans, {})).plans.length).toBeGreaterThan(0);
  });

  test("can call from a page of another origin, although CORS allows all", async () => {
    const url = `http://127.0.0.1:${service.port}/v1/admin/plans`;
    const own = `http://127.0.0.1:${service.port}`;
    const statusOf = async (headers: Record<string, string>) => {
      const response = await fetch(url, { headers: { ...bearer(ADMIN_KEY), ...headers } });
      await response.body?.cancel();
      expect(response.headers.get("access-control-allow-origin")).toBeNull();
      return response.status;
    };
    for (const origin of ["https://evil.example", "null", "http://127.0.0.1:1", `${own}.evil.example`])
      expect(await statusOf({ origin }), origin).toBe(403);
    for (const client of createUnaryClients(service.port, {
      ...bearer(ADMIN_KEY),
      origin: "https://evil.example",
    }))
      await expect(client.call(method.listPlans, {}), client.name).rejects.toThrow("CROSS_ORIGIN");
    for (const site of ["cross-site", "same-site"])
      expect(await statusOf({ origin: own, "sec-fetch-site": site }), site).toBe(403);
    expect(await statusOf({ origin: own })).toBe(200);
    expect(await statusOf({ origin: own, "sec-fetch-site": "same-origin" })).toBe(200);
    const preflight = await fetch(url, {
      method: "OPTIONS",
      headers: { origin: "https://evil.example", "access-control-request-method": "GET" },
    });
    expect(preflight.headers.get("access-control-allow-origin")).toBeNull();
    const account = await fetch(`http://127.0.0.1:${service.port}/v1/account`, {
      headers: { ...bearer(USER), origin: "https://app.example" },
    });
    expect(account.headers.get("access-control-allow-origin")).toBe("*");
    await account.body?.cancel();
  });
});

test("without an admin key the service has no such methods, on any protocol", async () => {
  const plain = await startTestService();
  onTestFinished(() => plain.close());
  for (const client of createUnaryClients(plain.port, bearer(ADMIN_KEY)))
    await expect(client.call(method.listUsers, {}), client.name).rejects.toThrow(
      /NO_SUCH_PATH|unimplemented/,
    );
});
