import { afterAll, beforeAll, expect, test } from "vitest";
import type { RunningService } from "../../src/main.ts";
import { PAGES } from "../../src/web/page-table.ts";
import { startTestService } from "../support/service.ts";

let service: RunningService;
let bare: RunningService;
beforeAll(async () => {
  [service, bare] = await Promise.all([startTestService(), startTestService({ VISAGE_WEB: "off" })]);
});
afterAll(() => Promise.all([service.close(), bare.close()]));

const get = (path: string, init: RequestInit = {}, { port } = service) =>
  fetch(`http://127.0.0.1:${port}${path}`, init);

test.each(PAGES.map(({ path }) => path))(
  "%s is served to anyone, with headers that keep it safe",
  async (path) => {
    const response = await get(path);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
    expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(0);
  },
);

test("a page that is known already is not sent again", async () => {
  const { path } = PAGES[0]!;
  const etag = (await get(path)).headers.get("etag")!;
  const again = await get(path, { headers: { "if-none-match": etag } });
  expect([again.status, await again.text()]).toEqual([304, ""]);
});

test("a page asked for by HEAD has no body", async () => {
  const response = await get(PAGES[0]!.path, { method: "HEAD" });
  expect([response.status, await response.text()]).toEqual([200, ""]);
});

test("pages can be switched off", async () => {
  expect((await get(PAGES[0]!.path, {}, bare)).status).toBe(404);
});
