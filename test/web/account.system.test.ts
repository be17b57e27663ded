import { mkdtempSync, rmSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type AccountStore, MAX_LIVE_KEYS, type Plan, type User } from "../../src/accounts/account-store.ts";
import { fingerprintOf, hashKey } from "../../src/accounts/key.ts";
import { currentMonth } from "../../src/accounts/month-clock.ts";
import { openAccountStore } from "../../src/accounts/open-account-store.ts";
import { addTestUser, newKey } from "../support/accounts.ts";
import { enterKey, hasBrowser, openTab } from "../support/browser.ts";
import { checkPage, SIZES } from "../support/page-checks.ts";
import { requestFaceVector } from "../support/service.ts";
import { useSite } from "../support/site.ts";

describe.runIf(hasBrowser)("the account page", () => {
  const dataDir = mkdtempSync(join(tmpdir(), "visage-account-page-"));
  let store: AccountStore;
  let users = 0;
  beforeAll(async () => {
    store = await openAccountStore({ databaseUrl: undefined, dataDir });
  });
  afterAll(async () => {
    await store.close();
    rmSync(dataDir, { recursive: true, force: true });
  });
  const site = useSite({ VISAGE_DATA_DIR: dataDir });

  /** Adds a user with usage of this month, and returns its key. */
  async function addUser(limits: Partial<Plan> = {}, changes: Partial<User> = {}): Promise<string> {
    const key = `account-page-${++users}`;
    const { id: userId } = await addTestUser(store, key, limits, changes);
    const own = fingerprintOf(hashKey(key));
    const counts: readonly (readonly [
      day: string,
      key: string,
      operation: string,
      outcome: string,
      count: number,
    ])[] = [
      ["01", own, "get_face_vec", "ok", 1204],
      ["01", own, "get_face_vec", "NO_FACE", 310],
      ["02", "0123456789", "visage.v1.analyze_images", "ok", 600],
      ["28", "", "match_faces", "ok", 3],
    ];
    await store.addUsage(
      key,
      counts.map(([day, key, operation, outcome, count]) => ({
        ...{ userId, day: `${currentMonth()}-${day}`, key, operation, outcome, count },
      })),
    );
    return key;
  }

  async function open(key: string, options: BrowserContextOptions = {}) {
    const tab = await openTab(site.browser, site.url("/account"), options);
    await enterKey(tab.page, key);
    return tab;
  }

  const section = (page: Page, name: string) => page.getByRole("region", { name, exact: true });

  test.each(SIZES)("is accessible and fits the window: %s", async (name, options) => {
    const endsAt = new Date("2030-01-01T00:00:00Z");
    const key = await addUser({ requestsPerSecond: 10, burst: 20, requestsPerMonth: 50_000 }, { endsAt });
    const { page, consoleErrors, foreignOrigins } = await open("nobody-has-this-key", options);
    await page.getByText("This API key is unknown, expired or disabled.").waitFor();
    await checkPage(page, `account ${name} rejected`);
    await enterKey(page, key);
    await page.getByLabel("Count by").selectOption("Outcome");
    await page.getByRole("cell", { name: "NO_FACE" }).waitFor();
    await checkPage(page, `account ${name}`);
    await page.getByRole("button", { name: "Create key" }).click();
    await checkPage(page, `account ${name} create`);
    await page.getByRole("dialog").getByRole("button", { name: "Create key" }).click();
    await page.getByText("Copy the key now and store it.").waitFor();
    await checkPage(page, `account ${name} created`);
    expect(consoleErrors).toEqual([]);
    expect(foreignOrigins).toEqual([]);
  });

  test("shows plan, subscription, quota and usage", async () => {
    const key = await addUser(
      { requestsPerSecond: 2.5, burst: 20, requestsPerMonth: 50_000, maxGalleries: 3 },
      { endsAt: new Date("2030-01-01T00:00:00Z") },
    );
    const { page } = await open(key);
    await page.getByText("Active until 1 January 2030.").waitFor();
    const plan = await section(page, "Plan").textContent();
    expect(plan).toContain("Requests per second2.5");
    expect(plan).toContain("Requests at once20");
    expect(plan).toContain("Requests per month50,000");
    expect(plan).toContain("Galleries3");
    const usage = section(page, "Usage");
    await usage.getByText(/1,807 of 50,000 requests used. 48,193 left until 1 \w+\./).waitFor();
    await usage.getByText("1,807 successful").waitFor();
    const chart = usage.getByRole("img");
    expect(await chart.getAttribute("aria-label")).toMatch(
      /^Requests in \w+ \d{4} by day. Most on 1 \w+: 1,204 successful, 310 failed\.$/,
    );
    expect(await chart.locator("rect.ok").count()).toBe(3);
    const rows = async () => (await usage.getByRole("row").allTextContents()).slice(1);
    expect(await rows()).toEqual(["get_face_vec1,204310", "visage.v1.analyze_images6000", "match_faces30"]);
    await usage.getByLabel("Count by").selectOption("Key");
    expect(await rows()).toEqual([
      `first key (${fingerprintOf(hashKey(key))})1,204310`,
      "01234567896000",
      "client certificate30",
    ]);
    await usage.getByLabel("Show").selectOption("match_faces");
    expect(await rows()).toEqual(["client certificate30"]);
    await usage.getByLabel("Month", { exact: true }).selectOption({ index: 1 });
    await usage.getByText(/^No requests in /).waitFor();
    expect(await usage.getByRole("button", { name: "Download CSV" }).isVisible()).toBe(false);
  });

  test("saves the usage of the month as CSV", async () => {
    const key = await addUser();
    const { page } = await open(key);
    const saving = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download CSV" }).click();
    const file = await saving;
    expect(file.suggestedFilename()).toBe(`visage-usage-${currentMonth()}.csv`);
    const lines = (await readFile(await file.path(), "utf8")).split("\r\n");
    expect(lines).toHaveLength(6);
    expect(lines.slice(0, 2)).toEqual([
      "\ufeffday,operation,key,outcome,count",
      `${currentMonth()}-01,get_face_vec,first key (${fingerprintOf(hashKey(key))}),ok,1204`,
    ]);
  });

  test.each<[string, Partial<Plan>, Partial<User>, RegExp]>([
    ["a spent quota", { requestsPerMonth: 1 }, {}, /used up until 1 \w+\. Ask the operator of this service/],
    ["no quota", {}, {}, /1,807 successful requests this month. There is no monthly quota\./],
    [
      "a subscription that has ended",
      {},
      { endsAt: new Date("2021-02-03T00:00:00Z") },
      /Ended on 3 February 2021\. Requests are rejected/,
    ],
    [
      "a subscription that starts later",
      {},
      { startsAt: new Date("2099-02-03T00:00:00Z") },
      /Starts on 3 February 2099\. Requests are rejected/,
    ],
  ])("shows %s", async (_, limits, changes, text) => {
    const { page } = await open(await addUser(limits, changes));
    await page.getByText(text).first().waitFor();
  });

  test("replaces a key: the page goes on with the new one, which deletes the old one", async () => {
    const old = await addUser();
    const { page } = await open(old);
    const keys = section(page, "API keys");
    await keys.getByText("used by this page").waitFor();
    expect(await keys.getByRole("button", { name: /^Delete/ }).count()).toBe(0);
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await keys.getByRole("button", { name: `Replace key ${fingerprintOf(hashKey(old))}` }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("The old key").selectOption("expires in 14 days");
    await dialog.getByRole("button", { name: "Replace key" }).click();
    const shown = page.getByRole("dialog", { name: "New key" });
    const key = (await shown.locator("code").textContent())!;
    expect(key).toMatch(/^vsg_[0-9a-f]{32}$/);
    await shown.getByRole("button", { name: "Copy key" }).click();
    await shown.getByText("Copied").waitFor();
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe(key);
    await shown.getByRole("button", { name: "I have stored the key" }).click();
    expect(await page.evaluate("sessionStorage.user_id")).toBe(key);
    // Browsers report the end of a dialog a little later.
    await expect.poll(() => page.evaluate("document.documentElement.outerHTML")).not.toContain(key);

    const fingerprint = fingerprintOf(hashKey(old));
    await keys.getByRole("button", { name: `Delete key ${fingerprint}` }).click();
    await dialog.getByRole("button", { name: "Cancel" }).click();
    expect(await requestFaceVector(site.service, old)).toBe(200);
    await keys.getByRole("button", { name: `Delete key ${fingerprint}` }).click();
    await dialog.getByRole("button", { name: "Delete key" }).click();
    await expect.poll(() => keys.getByText(fingerprint).count()).toBe(0);
    await expect.poll(() => page.evaluate("document.activeElement !== document.body")).toBe(true);
    await expect.poll(() => requestFaceVector(site.service, old), { timeout: 15_000 }).toBe(401);
    expect(await requestFaceVector(site.service, key)).toBe(200);
  });

  test("creates a key with a name, scopes and galleries, and goes on with its own", async () => {
    const own = await addUser();
    const { page } = await open(own);
    const keys = section(page, "API keys");
    await keys.getByRole("button", { name: "Create key" }).click();
    const dialog = page.getByRole("dialog", { name: "Create key" });
    await dialog.getByLabel("Name").fill("door");
    await dialog.getByLabel("Identify", { exact: true }).check();
    await dialog.getByLabel("Galleries").fill("staff, guests");
    await dialog.getByRole("button", { name: "Create key" }).click();
    const shown = page.getByRole("dialog", { name: "New key" });
    const key = (await shown.locator("code").textContent())!;
    // The key is not lost by accident.
    for (let i = 0; i < 3; i++) await page.keyboard.press("Escape");
    await page.mouse.click(2, 2);
    const asked = page.waitForEvent("dialog");
    const reloading = page.reload({ timeout: 2_000 }).catch(() => {});
    const question = await asked;
    expect(question.type()).toBe("beforeunload");
    await question.dismiss();
    await reloading;
    expect(await shown.locator("code").textContent()).toBe(key);
    await shown.getByRole("button", { name: "I have stored the key" }).click();
    await keys.getByText("staff, guests").waitFor();
    await page.reload();
    await keys.getByText("staff, guests").waitFor();
    expect(await store.listKeys((await store.findUsers(own))[0]!.id)).toContainEqual(
      expect.objectContaining({
        name: "door",
        hash: hashKey(key),
        scopes: ["identify"],
        galleryIds: ["staff", "guests"],
      }),
    );
    expect(await page.evaluate("sessionStorage.user_id")).toBe(own);
  });

  test("says why no key is created beyond twenty", async () => {
    const key = await addUser();
    const [user] = await store.findUsers(key);
    for (let i = 1; i < MAX_LIVE_KEYS; i++) await store.addKey(user!.id, newKey(hashKey(`${key}-${i}`)));
    const { page } = await open(key);
    await page.getByRole("button", { name: "Create key" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Create key" }).click();
    await page.getByText("There are 20 keys already.").waitFor();
    await page.keyboard.press("Escape");
    await expect.poll(() => page.getByRole("dialog").count()).toBe(0);
  });

  test("takes the API key from the fragment of the address", async () => {
    const key = await addUser();
    const { page } = await openTab(site.browser, site.url(`/account#user_id=${key}`));
    await section(page, "API keys").waitFor();
    expect(page.url()).not.toContain(key);
  });
});
