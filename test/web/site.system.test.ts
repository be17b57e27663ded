import { describe, expect, onTestFinished, test } from "vitest";
import { PAGES } from "../../src/web/page-table.ts";
import { agreeToLink, hasBrowser, openTab } from "../support/browser.ts";
import { answerWithPage, neverAnswer, startFaultyProxy } from "../support/faulty-proxy.ts";
import { checkPage } from "../support/page-checks.ts";
import { openPlayground, sampleFile } from "../support/playground.ts";
import { ADMIN_KEY, startTestService, USER } from "../support/service.ts";
import { useSite } from "../support/site.ts";

const PATHS = PAGES.map(({ path }) => path);
const LISTED_PATHS = PAGES.filter(({ label }) => label).map(({ path }) => path);
/** Left and right edge of header, content and footer. */
const PLACES = `[".site-header", "main", ".site-footer"].map((part) => {
  const { left, right } = document.querySelector(part).getBoundingClientRect();
  return [left, right];
})`;

describe.runIf(hasBrowser)("the site", () => {
  const site = useSite({ VISAGE_ADMIN_KEY: ADMIN_KEY });

  test.each(PATHS)("%s takes the API key from the fragment, which nobody else sees", async (path) => {
    const { page } = await openTab(site.browser, "about:blank");
    const requests: string[] = [];
    page.on("request", (request) => requests.push(request.url() + JSON.stringify(request.headers())));
    await page.goto(site.url(`${path}#user_id=${USER}&section=2`));
    await page.getByText("Service ready").waitFor();
    await agreeToLink(page);
    expect(page.url()).toBe(site.url(`${path}#section=2`));
    await expect.poll(() => page.evaluate("sessionStorage.user_id")).toBe(USER);
    expect(requests.join()).not.toMatch(/user_id/);
    await page.goto(site.url(`${path}#user_id=another`));
    await agreeToLink(page);
    await expect.poll(() => page.evaluate("sessionStorage.user_id")).toBe("another");
    expect(await page.evaluate("location.hash")).toBe("");
  });

  test.each(PATHS)("%s does not let a link choose the API key without asking", async (path) => {
    const { page, consoleErrors } = await openTab(site.browser, "about:blank");
    const sent: string[] = [];
    page.on("request", (request) => sent.push(JSON.stringify(request.headers())));
    const decline = async (pattern: RegExp) => {
      expect(await page.getByRole("dialog").textContent()).toMatch(pattern);
      // Enter gives the safe answer.
      await page.keyboard.press("Enter");
      await expect.poll(() => page.getByRole("dialog").count()).toBe(0);
      await page.getByText("Service ready").waitFor();
      expect(page.url()).not.toContain("stranger");
    };
    await page.goto(site.url(`${path}#user_id=stranger`));
    await page.getByRole("dialog").waitFor();
    await decline(/^Use the API key of this link\?(?!.*replaces)/);
    expect(await page.evaluate("sessionStorage.user_id")).toBeUndefined();

    await page.goto(site.url(`${path}#user_id=${USER}`));
    await agreeToLink(page);
    await expect.poll(() => page.evaluate("sessionStorage.user_id")).toBe(USER);
    await page.goto(site.url(`${path}#user_id=stranger`));
    await page.getByRole("dialog").waitFor();
    await decline(/It replaces the key of this tab\./);
    expect(await page.evaluate("sessionStorage.user_id")).toBe(USER);
    expect(sent.join()).not.toContain("stranger");

    // The key that the tab has needs no question.
    await page.goto(site.url(`${path}#user_id=${USER}`));
    await expect.poll(() => page.evaluate("location.hash")).toBe("");
    await page.getByText("Service ready").waitFor();
    expect(await page.getByRole("dialog").count()).toBe(0);
    expect(consoleErrors).toEqual([]);
  });

  test.each(LISTED_PATHS)("%s marks itself in the navigation and shows version and health", async (path) => {
    const { page } = await openTab(site.browser, site.url(path));
    const current = page.locator(".site-header [aria-current=page]");
    expect(await current.evaluate((link) => (link as unknown as { pathname: string }).pathname)).toBe(path);
    await page.getByText("Service ready").waitFor();
    expect(await page.locator(".site-footer").textContent()).toMatch(/Visage \d+\.\d+\.\d+/);
  });

  test("header, content and footer of all pages have the same place", async () => {
    const { page } = await openTab(site.browser, "about:blank", { viewport: { width: 1920, height: 1080 } });
    const places: unknown[] = [];
    for (const path of PATHS) {
      await page.goto(site.url(path));
      places.push(await page.evaluate(PLACES));
    }
    expect(places).toEqual(PATHS.map(() => places[0]));
  });

  test.each(PATHS)("%s has its navigation in one row on the smallest phone", async (path) => {
    const phone = { viewport: { width: 320, height: 568 }, isMobile: true };
    const { page } = await openTab(site.browser, site.url(path), phone);
    const links = await page.locator(".site-header nav a").all();
    const boxes = await Promise.all(links.map(async (link) => (await link.boundingBox())!));
    expect(boxes).toHaveLength(LISTED_PATHS.length);
    expect(new Set(boxes.map(({ y }) => y)).size).toBe(1);
    // Large enough to be touched.
    for (const { height } of boxes) expect(height).toBeGreaterThanOrEqual(24);
  });

  test.each(PATHS)("%s says that it needs JavaScript", async (path) => {
    const { page } = await openTab(site.browser, site.url(path), { javaScriptEnabled: false });
    expect(await page.textContent("body")).toMatch(/needs JavaScript/);
  });

  test("a page works in a browser that blocks storage", async () => {
    const { page, consoleErrors } = await openTab(site.browser, "about:blank");
    const block = "{ get() { throw new DOMException('blocked', 'SecurityError'); } }";
    await page.addInitScript(`Object.defineProperty(window, "sessionStorage", ${block})`);
    await page.goto(site.url(`/#user_id=${USER}`));
    await agreeToLink(page);
    await page.getByText(/^Answered in/).waitFor();
    await page.getByText("API key set").waitFor();
    expect(consoleErrors).toEqual([]);
  });

  test.each(PATHS)("%s offers to reload it if its script is missing", async (path) => {
    const { page } = await openTab(site.browser, "about:blank");
    await page.route("**/assets/*.js", (route) => route.fulfill({ status: 404 }));
    await page.goto(site.url(path));
    const notice = page.locator("#reload-notice");
    expect(await notice.isVisible()).toBe(false);
    await page.evaluate("for (const animation of document.getAnimations()) animation.finish()");
    await notice.getByText("could not be loaded").waitFor();
    await checkPage(page, `not started ${path.slice(1)}`);
    await page.unroute("**/assets/*.js");
    await notice.getByRole("link", { name: "Reload the page" }).click();
    await page.getByText("Service ready").waitFor();
    expect(await notice.isVisible()).toBe(false);
  });

  test("a part of the page that cannot be loaded offers to reload it, and is loaded later", async () => {
    const { page } = await openTab(site.browser, site.url(`/#user_id=${USER}`));
    const part = "**/assets/batch-view-*.js";
    await page.route(part, (route) => route.fulfill({ status: 404 }));
    await page.getByText(/^Answered in/).waitFor();
    const files = [sampleFile(1), sampleFile(3), sampleFile(5)];
    const input = page.locator('[data-slot="0"] input[type=file]');
    await input.setInputFiles(files);
    const notice = page.locator("#reload-notice");
    await notice.getByText("could not be loaded").waitFor();
    await checkPage(page, "part missing");
    await notice.getByRole("button", { name: "Dismiss" }).click();
    expect(await notice.isVisible()).toBe(false);
    await page.unroute(part);
    await input.setInputFiles(files);
    await page.getByText("3 of 3 photos").first().waitFor();
  });

  test("what a stopped service does not send offers to reload the page", async () => {
    const stopped = await startTestService();
    const { page } = await openTab(site.browser, `http://127.0.0.1:${stopped.port}/`);
    await page.locator("#result .headline").waitFor();
    await stopped.close();
    await page.getByRole("button", { name: "Hopper", exact: true }).click();
    await page.locator("#reload-notice").getByText("The service may have stopped").waitFor();
  });

  test("the footer says when the service is gone", async () => {
    const gone = await startTestService();
    const { page } = await openTab(site.browser, `http://127.0.0.1:${gone.port}/`);
    await page.getByText("Service ready").waitFor();
    await gone.close();
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
    await page.getByText("Service unreachable").waitFor();
  });
});

describe.runIf(hasBrowser)("a call of the service through a proxy", () => {
  const site = useSite();
  const open = async () => {
    const proxy = await startFaultyProxy(site.service);
    onTestFinished(() => proxy.close());
    const playground = await openPlayground(site.browser, proxy);
    await playground.addPhotos(0, sampleFile(3));
    return { ...playground, proxy };
  };

  test.each([
    [502, "Bad Gateway", "The proxy answered 502 Bad Gateway.", /It may be restarting/],
    [504, "Gateway Timeout", "The proxy answered 504 Gateway Timeout.", /Try again shortly/],
    [413, "Content Too Large", "The proxy answered 413 Content Too Large.", /limits the size of uploads/],
    [200, "Sign in", "The proxy answered 200 with a page instead of a result.", /not come from the service/],
  ])("shows the page of a proxy as what it is: %i %s", async (status, title, message, advice) => {
    const { run, result, proxy } = await open();
    proxy.setFault(answerWithPage(status, title));
    await run();
    expect(await result.textContent()).toContain(message);
    expect(await result.textContent()).toMatch(advice);
    proxy.setFault(undefined);
    await run();
    expect(await result.textContent()).toContain("3 faces");
  });

  test("a service that does not answer is reported after a while", async () => {
    const { page, result, proxy } = await open();
    await page.clock.install();
    proxy.setFault(neverAnswer);
    await page.locator("#run").click();
    await page.getByText("Working…").waitFor();
    // The clock of the page also advances by itself.
    await page.clock.fastForward(30_000);
    expect(await result.textContent()).not.toContain("60 seconds");
    // The upload may end only now, and the time starts again.
    await expect
      .poll(async () => {
        await page.clock.fastForward(61_000);
        return result.textContent();
      })
      .toMatch(/did not answer within 60 seconds|made no progress for 60 seconds/);
  });

  test("a request is given up when an option changes", async () => {
    const { page, openOptions, result, proxy } = await open();
    await openOptions();
    proxy.setFault(neverAnswer);
    await page.locator("#run").click();
    await page.locator("#result[aria-busy=true]").waitFor();
    await page.getByRole("checkbox", { name: /^Scale down/ }).uncheck();
    await page.locator("#result[aria-busy=false]").waitFor();
    expect(await result.textContent()).toContain("Press “Get attributes” to see results.");
  });

  test("a result is marked as that of an earlier face until the new one arrives", async () => {
    const { page, selectOperation, addPhotos, result, slot, proxy } = await open();
    const select = (face: number) =>
      slot(0)
        .getByRole("button", { name: new RegExp(`^Face ${face}`) })
        .click();
    const shown = (face: number) => result.locator("h3", { hasText: `Photo 1, face ${face}` });
    const updating = result.getByText("Updating…");
    const opacity = () => page.evaluate("getComputedStyle(document.querySelector('#result-body')).opacity");
    await selectOperation("Match");
    await addPhotos(1, sampleFile(3));
    await shown(1).waitFor();
    await select(3);
    await shown(3).waitFor();
    await expect.poll(() => updating.isVisible()).toBe(false);
    expect(await opacity()).toBe("1");

    proxy.setFault(neverAnswer);
    await select(2);
    await updating.waitFor();
    expect(await opacity()).toBe("0.45");
    expect(await shown(3).isVisible()).toBe(true);
    await page.getByRole("button", { name: "Cancel" }).click();
    await expect.poll(() => updating.isVisible()).toBe(false);
    expect(await page.getByRole("status").textContent()).toBe("Cancelled.");
    expect(await shown(3).isVisible()).toBe(true);
    expect(await opacity()).toBe("1");

    // The result stays that of the selected face while all faces are searched, and a new photo has none.
    proxy.setFault(undefined);
    await select(1);
    await shown(1).waitFor();
    proxy.setFault(neverAnswer);
    await slot(0).getByRole("button", { name: "Find faces" }).click();
    await page.locator("#result[aria-busy=true]").waitFor();
    expect(await updating.isVisible()).toBe(false);
    await slot(0).locator("input[type=file]").setInputFiles(sampleFile(5));
    await result.getByText("Working…").waitFor();
    expect(await updating.isVisible()).toBe(false);
  });

  test("a page that does not fit a new version of the service offers to reload it", async () => {
    const { page, run, result } = await open();
    const error = { success: false, code: "4040", message: "This path does not exist.", data: null };
    await page.route("**/*", (route) =>
      route.request().method() === "POST" ? route.fulfill({ status: 404, json: error }) : route.fallback(),
    );
    await run();
    await result.getByText("This page is out of date.").waitFor();
    const loaded = page.waitForEvent("load");
    await result.getByRole("button", { name: "Reload the page" }).click();
    await loaded;
  });

  test("a connection that breaks is reported", async () => {
    const { run, result, proxy } = await open();
    proxy.setFault((incoming) => incoming.destroy());
    await run();
    expect(await result.textContent()).toContain("The service could not be reached.");
  });
});
