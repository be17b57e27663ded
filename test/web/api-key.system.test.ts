import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { AccountStore, NewKey, Plan } from "../../src/accounts/account-store.ts";
import { hashKey } from "../../src/accounts/key.ts";
import { openAccountStore } from "../../src/accounts/open-account-store.ts";
import { PAGES } from "../../src/web/page-table.ts";
import { addTestUser, newKey } from "../support/accounts.ts";
import { agreeToLink, enterKey, hasBrowser, openTab, signOut } from "../support/browser.ts";
import { ADMIN_KEY, USER } from "../support/service.ts";
import { useSite } from "../support/site.ts";

const PATHS = PAGES.map(({ path }) => path);
const STORED = "[sessionStorage.user_id, localStorage.user_id]";

describe.runIf(hasBrowser)("the API key in the header", () => {
  const dataDir = mkdtempSync(join(tmpdir(), "visage-api-key-"));
  let store: AccountStore;
  beforeAll(async () => {
    store = await openAccountStore({ databaseUrl: undefined, dataDir });
  });
  afterAll(async () => {
    await store.close();
    rmSync(dataDir, { recursive: true, force: true });
  });
  const site = useSite({ VISAGE_ADMIN_KEY: ADMIN_KEY, VISAGE_DATA_DIR: dataDir });
  let users = 0;

  async function addUser(plan: Partial<Plan>, key: Partial<NewKey> = {}): Promise<string> {
    const name = `header-${++users}`;
    const { id } = await addTestUser(store, `${name}-first`, { burst: 100, ...plan });
    await store.addKey(id, newKey(hashKey(name), key));
    return name;
  }

  /** Opens a page. At the end of the test it checks that there was no error. */
  async function open(path: string) {
    const { page, consoleErrors } = await openTab(site.browser, site.url(path));
    onTestFinished(() => expect(consoleErrors).toEqual([]));
    return page;
  }

  test.each(PATHS)("%s keeps it in the tab until the user signs out", async (path) => {
    const page = await open(path);
    await enterKey(page, USER);
    await page.getByText("API key set").waitFor();
    await page.reload();
    await page.getByText("API key set").waitFor();
    expect(await page.evaluate(STORED)).toEqual([USER, undefined]);
    const other = await page.context().newPage();
    await other.goto(page.url());
    await other.getByText("API key not set").waitFor();
    await signOut(page);
    expect(await page.evaluate(STORED)).toEqual([undefined, undefined]);
  });

  test("the browser remembers it by choice, and signing out in one tab does so in all", async () => {
    const page = await open("/");
    await page.locator("#api-key").click();
    await page.getByLabel("Remember in this browser").check();
    await enterKey(page, USER);
    expect(await page.evaluate(STORED)).toEqual([undefined, USER]);
    const other = await page.context().newPage();
    await other.goto(site.url("/docs"));
    await other.getByText("API key set").waitFor();
    // A link counts for its tab only.
    await other.goto(site.url("/#user_id=another"));
    await agreeToLink(other);
    await expect.poll(() => other.evaluate(STORED)).toEqual(["another", USER]);
    await signOut(other);
    await page.getByText("API key not set").waitFor();
    expect(await page.evaluate(STORED)).toEqual([undefined, undefined]);
  });

  test("the browser forgets it by choice, and the tab keeps it", async () => {
    const page = await open("/");
    await page.evaluate(`localStorage.user_id = "${USER}"`);
    await page.reload();
    await page.getByText("API key set").click();
    await page.getByLabel("Remember in this browser").uncheck();
    await enterKey(page, USER);
    expect(await page.evaluate(STORED)).toEqual([USER, undefined]);
  });

  test("it is hidden until it is revealed, and checked before it is used", async () => {
    const page = await open("/");
    await page.locator("#api-key").click();
    const field = page.getByLabel("API key", { exact: true });
    const problems = { "": /Enter an API key/, "two words": /other than ASCII/, ключ: /other than ASCII/ };
    for (const [key, problem] of Object.entries(problems)) {
      await field.fill(key);
      await field.press("Enter");
      await page.getByRole("alert").getByText(problem).waitFor();
      expect(await field.getAttribute("aria-invalid")).toBe("true");
    }
    await field.fill(USER);
    expect(await field.getAttribute("type")).toBe("password");
    await page.getByRole("button", { name: "Reveal" }).click();
    expect(await field.getAttribute("type")).toBe("text");
    await page.keyboard.press("Escape");
    await page.getByText("API key not set").waitFor();
  });

  test.each([
    ["plan", { off: ["attributes", "compare", "urls", "identify"] as const }, {}],
    ["scopes", {}, { scopes: ["account", "analyze", "embeddings", "read"] as const }],
  ])("what the %s of the key switch off is hidden", async (_, plan, key) => {
    const page = await open(`/#user_id=${await addUser(plan, key)}`);
    const refused: string[] = [];
    page.on("response", (response) => {
      if (response.status() === 403) refused.push(response.url());
    });
    const choices = () => page.locator(".choice:visible").allInnerTexts();
    await expect.poll(choices).toEqual(["Attributes", "Embedding"]);
    expect(await page.getByLabel("Or the URL of a photo").isVisible()).toBe(false);
    await page.goto(site.url("/docs"));
    await expect.poll(() => page.locator("#v1IdentifyFaces, #getImageAttr").count()).toBe(0);
    expect(await page.locator("#v1AnalyzeImage").count()).toBe(1);
    // The next page hides it at once, before it has asked.
    await page.route("**/v1/account", () => {});
    await page.goto(site.url("/galleries"));
    await page.getByText("API key set").waitFor();
    expect(await page.locator("[data-permission~=identify]:visible").count()).toBe(0);
    await signOut(page);
    await page.goto(site.url("/"));
    await expect.poll(() => page.locator(".choice:visible").count()).toBe(3);
    expect(refused).toEqual([]);
  });

  test("a plan without galleries has no link to them, from the moment at which the key is entered", async () => {
    const page = await open("/");
    const link = page.getByRole("link", { name: "Galleries" });
    await link.waitFor();
    const off = ["identify", "read", "enrol", "export", "delete"] as const;
    await enterKey(page, await addUser({ off }));
    await link.waitFor({ state: "hidden" });
    await page.getByText("API key set").waitFor();
  });

  test("a key that may not read its account hides nothing and shows no error", async () => {
    const key = await addUser({ off: ["attributes"] }, { scopes: ["analyze"] });
    const page = await open(`/#user_id=${key}`);
    await page.locator("#result .headline, #result .failure").first().waitFor();
    expect(await page.locator(".choice:visible").count()).toBe(3);
    expect(await page.locator("#reload-notice").isVisible()).toBe(false);
  });
});
