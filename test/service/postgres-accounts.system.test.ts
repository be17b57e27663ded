import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { openAccountStore } from "../../src/accounts/open-account-store.ts";
import type { RunningService } from "../../src/main.ts";
import { addTestUser } from "../support/accounts.ts";
import { photograph } from "../support/images.ts";
import { hasPostgres, startPostgres, type TestPostgres } from "../support/postgres.ts";
import { startTestService, USER } from "../support/service.ts";

const PHOTO = { img: photograph(3).toString("base64") };

describe.skipIf(!hasPostgres)("with accounts in PostgreSQL", () => {
  let postgres: TestPostgres;
  let shared: RunningService;
  beforeAll(async () => {
    postgres = await startPostgres();
    shared = await startTestService({ VISAGE_DATABASE_URL: postgres.url, VISAGE_ACCOUNTS_GRACE_MS: "4000" });
  });
  afterAll(async () => {
    await shared.close();
    await postgres.remove();
  });
  const statusOf = async (userId: string) => {
    const headers = { user_id: userId };
    const response = await fetch(`http://127.0.0.1:${shared.port}/get_face_vec`, { method: "POST", headers });
    await response.body?.cancel();
    return { status: response.status, retryAfter: response.headers.get("retry-after") };
  };

  test("what one replica serves counts against the quota at the other", async () => {
    const other = await startTestService({ VISAGE_DATABASE_URL: postgres.url });
    onTestFinished(() => other.close());
    const accounts = await openAccountStore({ databaseUrl: postgres.url, dataDir: "" });
    onTestFinished(() => accounts.close());
    const { id: userId } = await addTestUser(accounts, "frugal", { requestsPerMonth: 2 });
    const ask = async ({ port }: RunningService) => {
      const headers = { user_id: "frugal", "content-type": "application/json" };
      const body = JSON.stringify(PHOTO);
      const response = await fetch(`http://127.0.0.1:${port}/get_face_vec`, {
        method: "POST",
        headers,
        body,
      });
      await response.body?.cancel();
      return { status: response.status, left: response.headers.get("ratelimit-remaining") };
    };
    expect(await ask(shared)).toEqual({ status: 200, left: "1" });
    expect(await ask(shared)).toEqual({ status: 200, left: "0" });
    const written = async () => (await accounts.listUsage({ userId })).map(({ count }) => count);
    await expect.poll(written).toEqual([2]);
    expect(await ask(other)).toEqual({ status: 429, left: "0" });
  });

  test("known users go on for a while when it is away, and all when it is back", async () => {
    expect(await statusOf(USER)).toMatchObject({ status: 400 });
    await postgres.stop();
    expect(await statusOf(USER)).toMatchObject({ status: 400 });
    expect(await statusOf("someone-else")).toEqual({ status: 503, retryAfter: "1" });
    const later = { timeout: 15_000, interval: 200 };
    await vi.waitFor(
      async () => expect(await statusOf(USER)).toEqual({ status: 503, retryAfter: "1" }),
      later,
    );
    await postgres.start();
    await vi.waitFor(async () => expect(await statusOf(USER)).toMatchObject({ status: 400 }), later);
  });
});
