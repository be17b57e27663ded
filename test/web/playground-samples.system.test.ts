import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RunningService } from "../../src/main.ts";
import { PACKAGE_ROOT } from "../../src/package-root.ts";
import { OPERATIONS, type OperationName } from "../../src/web/playground/operations.ts";
import { agreeToLink, hasBrowser, openTab, startBrowser } from "../support/browser.ts";
import { startTestService, USER } from "../support/service.ts";

const FOLDER = join(PACKAGE_ROOT, "src/web/playground/samples");

const stored = JSON.parse(readFileSync(join(FOLDER, "results.json"), "utf8")) as Record<string, unknown>;

describe("the samples of the playground", () => {
  let service: RunningService;
  let browser: Browser;
  beforeAll(async () => {
    service = await startTestService();
    if (hasBrowser) browser = await startBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await service?.close();
  });

  test.each(Object.keys(stored))("the stored result is what the service answers: %s", async (key) => {
    const [operation, ...names] = key.split(" ");
    const { path, images, features, fields = {} } = OPERATIONS[operation as OperationName];
    const body = new FormData();
    for (const [i, field] of images.entries())
      body.append(field, new Blob([readFileSync(join(FOLDER, `${names[i]}.jpg`))]));
    for (const [field, value] of Object.entries(fields)) body.append(field, String(value));
    const query = features.map((feature) => `features=${feature}`).join("&");
    const url = `http://127.0.0.1:${service.port}/${path}?${query}`;
    const response = await fetch(url, { method: "POST", headers: { "x-api-key": USER }, body });
    expectClose(await response.json(), stored[key], key);
  });

  test.each(["collins", "collins-copy", "hopper"])("%s.jpg is small", (name) => {
    expect(statSync(join(FOLDER, `${name}.jpg`)).size).toBeLessThan(60_000);
  });

  describe.runIf(hasBrowser)("in the page", () => {
    const open = async (fragment = "") => {
      const { page, consoleErrors } = await openTab(browser, "about:blank");
      const posts: string[] = [];
      page.on("request", (request) => {
        if (request.method() === "POST") posts.push(new URL(request.url()).pathname);
      });
      await page.goto(`http://127.0.0.1:${service.port}/${fragment}`);
      if (fragment) await agreeToLink(page);
      const result = page.locator("#result");
      await result.locator(".headline").waitFor();
      return { page, posts, result, consoleErrors };
    };

    test("a first visit shows a result before anything is typed, without a request", async () => {
      const { page, posts, result, consoleErrors } = await open();
      expect(await result.textContent()).toMatch(/Stored result of a sample.*1 face.*Female.*20–40 years/);
      expect(await page.locator("[data-slot='0'] .point").count()).toBe(68);
      expect(await page.textContent("main")).toContain(
        "sent only to this service, which does not store them",
      );
      expect(await page.textContent("main")).toContain("public domain");
      expect(await page.textContent("main")).toContain("Age and gender are estimates");
      expect({ posts, consoleErrors }).toEqual({ posts: [], consoleErrors: [] });
      expect(await page.evaluate("scrollY")).toBe(0);
    });

    test("every sample has a stored result for every operation", async () => {
      const { page, posts, result } = await open();
      const headline = result.locator(".verdict");
      const expectHeadline = (text: string) => expect.poll(() => headline.textContent()).toBe(text);
      await page.getByRole("button", { name: "Different people" }).click();
      await expectHeadline("Not a match");
      await page.getByRole("button", { name: "Same person" }).click();
      await expectHeadline("Match");
      await page.getByRole("radio", { name: "Embedding" }).check();
      await expectHeadline("1 face");
      await page.getByRole("button", { name: "Hopper", exact: true }).click();
      await page.locator(".about", { hasText: "hopper.jpg" }).first().waitFor();
      await expectHeadline("1 face");
      await page.getByRole("radio", { name: "Attributes" }).check();
      await expectHeadline("1 face");
      expect(posts).toEqual([]);
    });

    test("a link with the trial id runs the sample at once, and a reload does not", async () => {
      const { page, posts, result } = await open(`#user_id=${USER}`);
      await result.getByText(/^Answered in/).waitFor();
      expect(posts).toEqual(["/v1/images:analyze"]);
      expect(page.url()).not.toContain(USER);
      await page.reload();
      await result.locator(".headline").waitFor();
      expect(await result.textContent()).toContain("Stored result of a sample. Add your own photo.");
      expect(posts).toEqual(["/v1/images:analyze"]);
    });

    test("a photo of the user replaces the samples", async () => {
      const { page, posts, result } = await open();
      await page.getByRole("radio", { name: "Match" }).check();
      await page.locator("[data-slot='1'] img").waitFor();
      const file = join(PACKAGE_ROOT, "node_modules/@vladmandic/face-api/demo/sample3.jpg");
      await page.locator("[data-slot='0'] input[type=file]").setInputFiles(file);
      await page.locator(".about", { hasText: "sample3.jpg" }).waitFor();
      expect(await page.locator("[data-slot='1'] img").count()).toBe(0);
      expect(await result.textContent()).toContain("Add two photos to see results.");
      expect(posts).toEqual([]);
    });
  });
});

/** Expects the same result up to the rounding errors of another CPU. */
function expectClose(actual: unknown, expected: unknown, path: string): void {
  if (typeof expected === "number") {
    const tolerance = 0.01 * Math.abs(expected) + 1.01;
    const allowed = Math.abs(expected) < 2 ? 0.02 : tolerance;
    expect(Math.abs(Number(actual) - expected), path).toBeLessThanOrEqual(allowed);
  } else if (typeof expected === "object" && expected !== null) {
    expect(Object.keys(actual as object), path).toEqual(Object.keys(expected));
    for (const [key, value] of Object.entries(expected))
      expectClose((actual as Record<string, unknown>)[key], value, `${path}.${key}`);
  } else expect(actual, path).toBe(expected);
}
