import { afterAll, beforeAll, expect, test } from "vitest";
import type { RunningService } from "../../src/main.ts";
import { PAGES } from "../../src/web/page-table.ts";
import { startTestService } from "../support/service.ts";

let service: RunningService;
let withoutPages: RunningService;
beforeAll(async () => {
  [service, withoutPages] = await Promise.all([startTestService(), startTestService({ VISAGE_WEB: "off" })]);
});
afterAll(() => Promise.all([service.close(), withoutPages.close()]));

const get = (path: string, init: RequestInit = {}, { port } = service) =>
  fetch(`http://127.0.0.1:${port}${path}`, init);

test.each(PAGES.map(({ path }) => path))(
  "%s is served without a user id and with security headers",
  async (path) => {
    const response = await get(path);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
    expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(0);
  },
);

test("an unchanged page is answered with 304", async () => {
  const { path } = PAGES[0]!;
  const etag = (await get(path)).headers.get("etag")!;
  const again = await get(path, { headers: { "if-none-match": etag } });
  expect([again.status, await again.text()]).toEqual([304, ""]);
});

test("HEAD returns no body", async () => {
  const response = await get(PAGES[0]!.path, { method: "HEAD" });
  expect([response.status, await response.text()]).toEqual([200, ""]);
});

test("VISAGE_WEB=off disables the pages", async () => {
  expect((await get(PAGES[0]!.path, {}, withoutPages)).status).toBe(404);
});
