import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BrowserContextOptions, Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { AccountStore } from "../../src/accounts/account-store.ts";
import { currentMonth } from "../../src/accounts/month-clock.ts";
import { openAccountStore } from "../../src/accounts/open-account-store.ts";
import { createPlan } from "../../src/accounts/plan.ts";
import { createUser } from "../../src/accounts/users.ts";
import { hasBrowser, openTab } from "../support/browser.ts";
import { checkPage, overflowOf, SIZES } from "../support/page-checks.ts";
import { ADMIN_KEY, requestFaceVector, startTestService } from "../support/service.ts";
import { useSite } from "../support/site.ts";

/** More than a page of users. */
const USERS = 60;

describe.runIf(hasBrowser)("the admin page", () => {
  const dataDir = mkdtempSync(join(tmpdir(), "visage-admin-page-"));
  let store: AccountStore;
  let names = 0;
  beforeAll(async () => {
    store = await openAccountStore({ databaseUrl: undefined, dataDir });
    for (let i = 0; i < USERS; i++) await addUser(`customer ${String(i).padStart(2, "0")}`);
  });
  afterAll(async () => {
    await store.close();
    rmSync(dataDir, { recursive: true, force: true });
  });
  const site = useSite({
    VISAGE_DATA_DIR: dataDir,
    VISAGE_ADMIN_KEY: ADMIN_KEY,
    VISAGE_CORS_ORIGINS: "*",
  });

  async function addUser(name = `other ${++names}`): Promise<{ name: string; key: string }> {
    const startsAt = new Date("2020-01-01T00:00:00Z");
    const options = { name, plan: "unlimited", startsAt, endsAt: undefined, certificateSubject: undefined };
    const { user, key } = await createUser(store, options);
    const count = { userId: user.id, day: `${currentMonth()}-01`, key: "", operation: "match_faces" };
    await store.addUsage(name, [
      { ...count, outcome: "ok", count: 1234 },
      { ...count, outcome: "NO_FACE", count: 7 },
    ]);
    return { name, key };
  }

  async function open(options: BrowserContextOptions = {}, key = ADMIN_KEY) {
    const tab = await openTab(site.browser, site.url("/admin"), options);
    await tab.page.getByLabel("Admin key", { exact: true }).fill(key);
    await tab.page.getByRole("button", { name: "Sign in" }).click();
    return tab;
  }

  const section = (page: Page, name: string) => page.getByRole("region", { name, exact: true });
  const dialogOf = (page: Page, name: string | RegExp) => page.getByRole("dialog", { name });

  /** Opens the dialog of a user. */
  async function manage(page: Page, name: string): Promise<Locator> {
    await page.getByLabel("Search by name, fingerprint or plan").fill(name);
    await page.getByRole("button", { name: "Search" }).click();
    await page.getByRole("button", { name: `Manage ${name}` }).click();
    const dialog = dialogOf(page, name);
    await dialog.getByRole("heading", { name: "API keys" }).waitFor();
    return dialog;
  }

  test.each(SIZES)("is accessible and fits the window: %s", async (name, options) => {
    const { name: user } = await addUser();
    const { page, consoleErrors, foreignOrigins } = await open(options);
    await section(page, "Usage of all users").getByRole("img").waitFor();
    await page.getByLabel("Search by name, fingerprint or plan").fill("customer 0");
    await page.getByRole("button", { name: "Search" }).click();
    await page.getByText("1 to 10 of 10").waitFor();
    await checkPage(page, `admin ${name}`);
    const dialog = await manage(page, user);
    await dialog.getByRole("img").waitFor();
    await checkPage(page, `admin ${name} user`);
    await dialog.getByRole("button", { name: "Close" }).click();
    await page.getByRole("button", { name: "Add plan" }).click();
    await checkPage(page, `admin ${name} plan`);
    expect(consoleErrors).toEqual([]);
    expect(foreignOrigins).toEqual([]);
  });

  test("fits windows of every width, also with very long names and very large limits", async () => {
    const limit = Number.MAX_SAFE_INTEGER;
    const limits = { requestsPerSecond: 12_345.5, burst: limit, requestsPerMonth: limit };
    await store.addPlan({
      ...createPlan("P".repeat(60), limits),
      maxImageBytes: limit,
      maxGalleries: limit,
      maxGalleryFaces: limit,
    });
    await addUser("W".repeat(100));
    const { page } = await open();
    await page.getByText("P".repeat(60)).first().waitFor();
    for (const width of [320, 600, 799, 801, 900, 1024, 1440]) {
      await page.setViewportSize({ width, height: 800 });
      expect(await overflowOf(page), `${width} pixels`).toBe(0);
    }
    await store.removePlan("P".repeat(60));
  });

  test("pages through users and searches them", async () => {
    const { page } = await open();
    const query = page.getByLabel("Search by name, fingerprint or plan");
    await query.fill("customer");
    await query.press("Enter");
    await page.getByText(`1 to 50 of ${USERS}`).waitFor();
    await page.getByRole("button", { name: "Next" }).click();
    await page.getByText(`51 to ${USERS} of ${USERS}`).waitFor();
    expect(await page.getByRole("button", { name: "Next" }).isDisabled()).toBe(true);
    await page.getByRole("button", { name: "Previous" }).click();
    await page.getByText(`1 to 50 of ${USERS}`).waitFor();
    await query.fill("nobody at all");
    await query.press("Enter");
    await page.getByText("No users found.").waitFor();
  });

  test("adds a user whose key works, and shows the key once", async () => {
    const { page } = await open();
    await page.getByRole("button", { name: "Add user" }).click();
    const dialog = dialogOf(page, "Add user");
    const name = `added & <b>${++names}</b>`;
    await dialog.getByLabel("Name").fill(name);
    await dialog.getByLabel("Plan").selectOption("unlimited");
    await dialog.getByRole("button", { name: "Add user" }).click();
    const shown = dialogOf(page, `Key of ${name}`);
    const key = (await shown.locator("code").textContent())!;
    expect(await requestFaceVector(site.service, key)).toBe(200);
    await shown.getByRole("button", { name: "I have stored the key" }).click();
    await page.getByRole("button", { name: "Add user" }).click();
    await dialog.getByLabel("Name").fill(name);
    await dialog.getByRole("button", { name: "Add user" }).click();
    await dialog.getByText("A user of this name exists already.").waitFor();
  });

  test("changes the plan, renews, disables and enables a user", async () => {
    const { name, key } = await addUser();
    const { page } = await open();
    const dialog = await manage(page, name);
    await dialog.getByLabel("Plan", { exact: true }).selectOption("pro");
    await dialog.getByRole("button", { name: "Change plan" }).click();
    await dialog.locator("dd").getByText("pro", { exact: true }).waitFor();
    await dialog.getByLabel("Renew the subscription").selectOption("until a date");
    await dialog.getByLabel("End of the subscription").fill("2031-05-06");
    await dialog.getByRole("button", { name: "Renew" }).click();
    await dialog.getByText("Active until 6 May 2031.").waitFor();
    await dialog.getByLabel("Renew the subscription").selectOption("by 30 days");
    await dialog.getByRole("button", { name: "Renew" }).click();
    await dialog.getByText("Active until 5 June 2031.").waitFor();

    await dialog.getByRole("button", { name: "Disable user" }).click();
    const question = dialogOf(page, `Disable ${name}?`);
    await question.getByRole("button", { name: "Cancel" }).click();
    expect(await requestFaceVector(site.service, key)).toBe(200);
    await dialog.getByRole("button", { name: "Disable user" }).click();
    await question.getByRole("button", { name: "Disable user" }).click();
    await dialog.getByText("Disabled by the operator.").waitFor();
    await expect.poll(() => requestFaceVector(site.service, key), { timeout: 15_000 }).toBe(401);
    await dialog.getByRole("button", { name: "Enable user" }).click();
    await dialog.getByText("Active until 5 June 2031.").waitFor();
  });

  test("rotates and deletes keys, and deletes a user after a question", async () => {
    const { name } = await addUser();
    const { page } = await open();
    const dialog = await manage(page, name);
    await dialog.getByRole("button", { name: "Create key" }).click();
    await dialogOf(page, "Create key").getByRole("button", { name: "Create key" }).click();
    const shown = dialogOf(page, "New key");
    await shown.getByText("Copy the key now and store it.").waitFor();
    await shown.getByRole("button", { name: "I have stored the key" }).click();
    await expect.poll(() => dialog.getByRole("button", { name: "Delete key" }).count()).toBe(2);
    await dialog.getByRole("button", { name: "Delete key" }).first().click();
    await dialogOf(page, /^Delete key/)
      .getByRole("button", { name: "Delete key" })
      .click();
    await expect.poll(() => dialog.getByRole("button", { name: "Delete key" }).count()).toBe(1);
    await dialog.getByRole("button", { name: "Delete user" }).click();
    await dialogOf(page, `Delete ${name}?`).getByRole("button", { name: "Delete user" }).click();
    await page.getByText("No users found.").waitFor();
    expect(await store.findUsers(name)).toEqual([]);
  });

  test("adds, changes and deletes a plan", async () => {
    const { page } = await open();
    const plans = section(page, "Plans");
    await plans.getByRole("button", { name: "Add plan" }).click();
    const added = dialogOf(page, "Add plan");
    const name = `plan ${++names}`;
    await added.getByLabel("Name").fill(name);
    await added.getByLabel("Requests per second").fill("1.5");
    await added.getByLabel("Requests per month").fill("1000");
    await added.getByLabel("Identify", { exact: true }).check();
    await added.getByLabel("Export").check();
    await added.getByRole("button", { name: "Add plan" }).click();
    const row = plans.getByRole("row", { name });
    await row.getByRole("cell", { name: "1.5", exact: true }).waitFor();
    expect(await row.getByRole("cell", { name: "3", exact: true }).count()).toBe(1);
    await plans.getByRole("button", { name: `Edit plan ${name}` }).click();
    const edited = dialogOf(page, `Limits of ${name}`);
    await edited.getByLabel("Requests per second").fill("");
    await edited.getByLabel("Identify", { exact: true }).uncheck();
    await edited.getByRole("button", { name: "Save limits" }).click();
    await expect.poll(() => row.getByRole("cell", { name: "1.5", exact: true }).count()).toBe(0);
    const stored = async () => (await store.listPlans()).filter((plan) => plan.name === name);
    expect(await stored()).toEqual([{ name, burst: 3, requestsPerMonth: 1000, off: ["export"] }]);
    await plans.getByRole("button", { name: `Edit plan ${name}` }).click();
    await edited.getByLabel("Export").uncheck();
    await edited.getByRole("button", { name: "Save limits" }).click();
    await expect.poll(async () => (await stored())[0]?.off ?? []).toEqual([]);
    await plans.getByRole("button", { name: `Delete plan ${name}` }).click();
    await dialogOf(page, /^Delete plan/)
      .getByRole("button", { name: "Delete plan" })
      .click();
    await expect.poll(() => plans.getByText(name).count()).toBe(0);
    expect(await plans.getByRole("button", { name: "Delete plan unlimited" }).count()).toBe(0);
  });

  test("keeps the key in this tab until the operator signs out, and sends it to AdminService alone", async () => {
    const { page } = await open();
    await section(page, "Users").waitFor();
    const withKey: string[] = [];
    page.on("request", (request) => {
      if (JSON.stringify(request.headers()).includes(ADMIN_KEY))
        withKey.push(new URL(request.url()).pathname);
    });
    await page.reload();
    await section(page, "Users").waitFor();
    await page.goto(site.url("/account"));
    await page.getByText("Service ready").waitFor();
    expect(withKey.length).toBeGreaterThan(2);
    expect(withKey.filter((path) => !path.startsWith("/v1/admin/"))).toEqual([]);
    await page.goto(site.url("/admin"));
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("Admin key", { exact: true }).waitFor();
    expect(await page.evaluate("sessionStorage.length")).toBe(0);
  });

  test("rejects a wrong key and asks again", async () => {
    const { page } = await open({}, "not-the-admin-key");
    await page.getByText("This is not the admin key of this service.").waitFor();
    expect(await section(page, "Users").isVisible()).toBe(false);
    expect(await page.evaluate("sessionStorage.length")).toBe(0);
  });

  test("cannot be replaced by a page of another origin, although CORS allows all", async () => {
    const foreign = createServer((_, response) => response.end("<!doctype html><title>Foreign</title>"));
    await new Promise<void>((resolve) => foreign.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void foreign.close());
    const { page } = await openTab(
      site.browser,
      `http://127.0.0.1:${(foreign.address() as AddressInfo).port}/`,
    );
    const outcome = (path: string) =>
      page.evaluate(
        `fetch("http://127.0.0.1:${site.service.port}${path}", { headers: { authorization: "Bearer ${ADMIN_KEY}" } })
          .then((response) => response.status, () => "blocked")`,
      );
    expect(await outcome("/v1/admin/users")).toBe("blocked");
    expect(await outcome("/visage.v1.AdminService/ListUsers")).toBe("blocked");
    // Other paths can be called, as the setting says.
    expect(await outcome("/v1/account")).toBe(401);
  });

  test("is not served without an admin key", async () => {
    const plain = await startTestService();
    onTestFinished(() => plain.close());
    for (const path of ["/admin", "/admin/", "/v1/admin/users"]) {
      const response = await fetch(`http://127.0.0.1:${plain.port}${path}`, { redirect: "manual" });
      await response.body?.cancel();
      expect(response.status, path).toBe(404);
    }
  });
});
