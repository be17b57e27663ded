import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { BrowserContextOptions, Locator, Page } from "playwright-core";
import { describe, expect, onTestFinished, test } from "vitest";
import { PACKAGE_ROOT } from "../../src/package-root.ts";
import { ERROR_KINDS, ERRORS, reasonFromKind } from "../../src/service/error-table.ts";
import { enterKey, hasBrowser, openTab } from "../support/browser.ts";
import { checkPage, expectOnScreen, overflowOf, SIZES, violationsOf } from "../support/page-checks.ts";
import { sampleFile } from "../support/playground.ts";
import { ADMIN_KEY, USER } from "../support/service.ts";
import { useSite } from "../support/site.ts";

interface Document {
  readonly paths: Record<string, Record<string, { readonly operationId: string; readonly tags: string[] }>>;
}

const { paths } = JSON.parse(readFileSync(join(PACKAGE_ROOT, "gen/openapi.json"), "utf8")) as Document;
const OPERATIONS = Object.values(paths).flatMap((methods) => Object.values(methods));
/** Changes of accounts have no form: a click to try them would have lasting effects. */
const UNTRIED = ["v1CreateKey", "v1DeleteKey", "v1ReplaceGallery"];
const TRIED = OPERATIONS.filter(
  ({ tags, operationId }) => !tags.includes("AdminService") && !UNTRIED.includes(operationId),
).map(({ operationId }) => operationId);

describe.runIf(hasBrowser)("the API reference", () => {
  const site = useSite({ VISAGE_ADMIN_KEY: ADMIN_KEY });

  /** Opens the page. At the end of the test it checks that there was no error and no request to another origin. */
  const open = async (options: BrowserContextOptions = {}, fragment = `#user_id=${USER}`): Promise<Page> => {
    const url = site.url(`/docs${fragment}`);
    const { page, consoleErrors, foreignOrigins } = await openTab(site.browser, url, options);
    onTestFinished(() =>
      expect({ consoleErrors, foreignOrigins }).toEqual({ consoleErrors: [], foreignOrigins: [] }),
    );
    return page;
  };
  const section = (page: Page, operation: string) => page.locator(`article[aria-labelledby="${operation}"]`);
  const openForm = async (page: Page, operation: string): Promise<Locator> => {
    const form = section(page, operation).locator(".try");
    await form.getByText("Try it").click();
    return form;
  };
  const galleries = async (key: string): Promise<string[]> => {
    const response = await fetch(site.url("/v1/galleries"), { headers: { authorization: `Bearer ${key}` } });
    const { galleries: found } = (await response.json()) as { galleries: { galleryId: string }[] };
    return found.map(({ galleryId }) => galleryId);
  };
  const send = async (form: Locator) => {
    await form.getByRole("button", { name: "Send request" }).click();
    return form.locator(".try-status, .problem").textContent({ timeout: 30_000 });
  };

  test.each(SIZES)(
    "is accessible and does not overflow: %s",
    async (name, options) => {
      const page = await open(options);
      expect(await overflowOf(page)).toBe(0);
      // All operations have the same parts. Everything of one is opened, because axe skips what is closed.
      await page.evaluate(
        "for (const other of document.querySelectorAll('.operation:not([aria-labelledby=v1EnrolFace])')) other.hidden = true",
      );
      expect(await send(await openForm(page, "v1EnrolFace"))).toContain("200 Success");
      await page.locator(".operation:visible details").evaluateAll((all) => {
        for (const details of all) details.setAttribute("open", "");
      });
      await checkPage(page, `docs ${name}`);
      await page.keyboard.press("/");
      await page.getByLabel("Search").fill("gallery");
      await checkPage(page, `docs search ${name}`);
      await page.keyboard.press("Escape");
      await page.keyboard.press("Escape");
      await page.getByRole("button", { name: "Remove it" }).click();
      await page.getByText("Removed.").waitFor();
    },
    180_000,
  );

  test("is accessible as a whole", async () => {
    expect(await violationsOf(await open())).toEqual([]);
  }, 180_000);

  test("describes every operation and every error", async () => {
    const page = await open();
    for (const { operationId } of OPERATIONS)
      expect(await page.locator(`h3#${operationId}`).count(), operationId).toBe(1);
    for (const kind of ERROR_KINDS) {
      const entry = page.locator(`#error-${reasonFromKind(kind)}`);
      expect(await entry.textContent()).toContain(ERRORS[kind].text);
    }
    const missing = await page.evaluate(
      "[...document.querySelectorAll('.docs a[href^=\"#\"]')].map((link) => link.hash.slice(1)).filter((id) => !document.getElementById(id))",
    );
    expect(missing).toEqual([]);
  });

  test("says that a section of the address does not exist, until another one is chosen", async () => {
    const page = await open({}, "#no-such%20section");
    const notice = page.getByText("This page has no section “no-such section”.");
    await notice.waitFor();
    await page.evaluate("location.hash = '#errors'");
    await notice.waitFor({ state: "hidden" });
    await page.evaluate("location.hash = '#%zz'");
    await page.getByText("This page has no section “%zz”.").waitFor();
  });

  test("succeeds with the first click on every operation and leaves nothing behind", async () => {
    const page = await open();
    const failed: string[] = [];
    page.on("response", (response) => {
      if (response.status() >= 400) failed.push(`${response.status()} ${response.url()}`);
    });
    const outcomes: string[] = [];
    for (const operation of TRIED) {
      const form = await openForm(page, operation);
      outcomes.push(`${operation} ${(await send(form))?.split(" in ")[0]}`);
    }
    expect(outcomes).toEqual(TRIED.map((operation) => `${operation} 200 Success`));
    const form = section(page, "v1CreateGallery").locator(".try");
    await form.getByLabel("Body (JSON)").fill('{"galleryId": "second"}');
    expect(await send(form)).toContain("200 Success");
    const notice = form.getByText(/^This page created the galleries example-\w+, second\./);
    await notice.getByRole("button", { name: "Remove them" }).click();
    await form.getByText("Removed.").waitFor();
    expect(await galleries(USER)).toEqual([]);
    expect(failed).toEqual([]);
  }, 180_000);

  test("creates an example once, and again if it is gone", async () => {
    const page = await open();
    const creations: string[] = [];
    page.on("request", (request) => {
      if (request.method() === "POST") creations.push(request.url().replace(/.*galleries/, ""));
    });
    await send(await openForm(page, "v1GetPerson"));
    await page.reload();
    const form = await openForm(page, "v1GetPerson");
    expect(await send(form)).toContain("200 Success");
    expect(creations).toEqual(["", expect.stringMatching(/people.ann.faces$/)]);
    // Deleted by somebody else.
    const [gallery] = await galleries(USER);
    await fetch(site.url(`/v1/galleries/${gallery}`), {
      method: "DELETE",
      headers: { authorization: `Bearer ${USER}` },
    });
    expect(await send(form)).toContain("200 Success");
    await form.getByRole("button", { name: "Remove it" }).click();
    await form.getByText("Removed.").waitFor();
    expect(await galleries(USER)).toEqual([]);
  });

  test("sends the chosen file, options and key", async () => {
    const page = await open({}, "");
    const form = await openForm(page, "v1AnalyzeImage");
    await form.getByRole("button", { name: "Send request" }).click();
    await enterKey(page, USER);
    await form.getByLabel("image", { exact: true }).setInputFiles(sampleFile(3));
    await form.getByLabel("maxFaces").fill("2");
    expect(await send(form)).toContain("200 Success");
    const body = JSON.parse((await form.locator("pre").textContent())!) as {
      faces: { embedding: { values: number[] } }[];
      facesFound: number;
    };
    expect([body.faces.length, body.facesFound]).toEqual([2, 3]);
    expect(await form.locator(".facts").textContent()).toContain("x-request-id");
  });

  test("shows the error of the service and of a missing service", async () => {
    const page = await open();
    const form = await openForm(page, "v1GetGallery");
    await form.getByLabel("gallery_id").fill("no-such-gallery");
    expect(await send(form)).toContain("404 Error");
    expect(await form.locator("pre").textContent()).toContain("GALLERY_NOT_FOUND");
    for (const [id, problem] of [
      ["", "Enter gallery_id."],
      ["..", 'A browser cannot send gallery_id "..".'],
    ] as const) {
      await form.getByLabel("gallery_id").fill(id);
      expect(await send(form)).toBe(problem);
    }
    await form.getByLabel("gallery_id").fill("staff");
    await page.route("**/v1/galleries/**", (route) => route.abort());
    await form.getByRole("button", { name: "Send request" }).click();
    await form.getByText("The service could not be reached.").waitFor();
  });

  test("cancels a request", async () => {
    const page = await open();
    const form = await openForm(page, "v1GetPerson");
    await page.route("**/v1/galleries", () => {});
    await form.getByRole("button", { name: "Send request" }).click();
    await form.getByRole("button", { name: "Cancel" }).click();
    await form.getByText("Cancelled.").waitFor();
  });

  test("shows why the example gallery cannot be created", async () => {
    const post = async (path: string, key: string, body: object) => {
      const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
      const init = { method: "POST", headers, body: JSON.stringify(body) };
      const response = await fetch(site.url(`/v1/${path}`), init);
      return (await response.json()) as { readonly key: string };
    };
    await post("admin/plans", ADMIN_KEY, { name: "single", limits: { maxGalleries: 1 } });
    const { key } = await post("admin/users", ADMIN_KEY, { name: "collector", plan: "single" });
    await post("galleries", key, { galleryId: "only" });
    const form = await openForm(await open({}, `#user_id=${key}`), "v1GetPerson");
    await form.getByRole("button", { name: "Send request" }).click();
    await form.getByText("422 Error").waitFor();
    expect(await form.locator("pre").textContent()).toContain("TOO_MANY_GALLERIES");
    await form.getByText("The page could not change its example gallery:").waitFor();
  });

  test("remembers the language of the samples for all operations", async () => {
    const page = await open();
    const samples = section(page, "v1CompareFaces");
    await samples.getByRole("tab", { name: "Python" }).click();
    expect(await samples.getByRole("tabpanel").textContent()).toContain("client.compare_faces(");
    expect(await section(page, "matchFaces").getByRole("tabpanel").textContent()).toContain("match_faces(");
    await samples.getByRole("tab", { name: "Python" }).press("ArrowRight");
    expect(await samples.getByRole("tabpanel").textContent()).toContain("visage.compareFaces(");
    await page.reload();
    expect(await samples.getByRole("tab", { name: "TypeScript" }).getAttribute("aria-selected")).toBe("true");
    // The samples call the service that shows the page.
    expect(await samples.getByRole("tabpanel").textContent()).toContain(
      `http://127.0.0.1:${site.service.port}"`,
    );
  });

  test("finds operations, fields, errors and parts of the guide", async () => {
    const page = await open({}, "");
    const search = page.getByLabel("Search");
    const best = page.locator(".hits a").first();
    for (const [query, title, target] of [
      ["identify", "POST IdentifyFaces", "h3#v1IdentifyFaces"],
      ["maxFalseMatchRate", "CompareFaces field maxFalseMatchRate", "dt >> text=maxFalseMatchRate"],
      ["2005", "IMAGE_TOO_LARGE Error", "#error-IMAGE_TOO_LARGE"],
      ["no_face", "NO_FACE Error", "#error-NO_FACE"],
      ["exif orientation", "Requests and images Guide", "li:has-text('EXIF orientation')"],
    ] as const) {
      await page.keyboard.press("/");
      await search.fill(query);
      expect((await best.innerText()).replaceAll(/\s+/g, " ")).toContain(title);
      await search.press("Enter");
      await expectOnScreen(page.locator(target).first());
    }
  });

  test("keeps the place that is read during a search", async () => {
    const page = await open({}, "#v1IdentifyFaces");
    const link = page.locator('.contents a[href="#v1IdentifyFaces"][aria-current]');
    await link.waitFor();
    const place = () => page.evaluate("scrollY");
    const before = await place();
    await page.keyboard.press("/");
    await page.keyboard.type("no such thing");
    expect(await page.getByRole("status").first().textContent()).toBe("Nothing found for “no such thing”.");
    expect(await page.getByRole("navigation", { name: "Contents" }).isVisible()).toBe(false);
    await page.keyboard.press("Escape");
    await expectOnScreen(link);
    expect(await place()).toBe(before);
    // A slash is typed where text is entered.
    const form = await openForm(page, "v1IdentifyFaces");
    await form.getByLabel("gallery_id").press("/");
    expect(await form.getByLabel("gallery_id").inputValue()).toContain("/");
  });

  test("keeps the contents at hand on a phone", async () => {
    const page = await open(SIZES[3]![1], "#v1IdentifyFaces");
    const bar = page.getByText("Contents POST IdentifyFaces");
    await expectOnScreen(bar);
    await bar.click();
    await page.getByLabel("Search").fill("deleteface");
    await page.locator(".hits a").first().click();
    await expectOnScreen(page.locator("h3#v1DeleteFace"));
    expect(await page.getByLabel("Search").isVisible()).toBe(false);
    await page.getByText("Contents DELETE DeleteFace").press("Enter");
    await page.getByLabel("Search").press("Escape");
    await expectOnScreen(page.locator(".contents a[aria-current]"));
    await page.getByLabel("Search").press("Escape");
    expect(await page.getByLabel("Search").isVisible()).toBe(false);
  });

  test("begins with the first request", async () => {
    const page = await open();
    await page.getByRole("link", { name: "try the first request" }).click();
    const form = section(page, "v1AnalyzeImage").locator(".try");
    expect(await send(form)).toContain("200 Success");
  });

  test("can be read without JavaScript", async () => {
    const page = await open({ javaScriptEnabled: false }, "");
    const operation = section(page, "v1CompareFaces");
    await operation.getByText("Python", { exact: true }).click();
    expect(await operation.locator("[data-language=python] pre").innerText()).toContain("compare_faces(");
    expect(
      await operation.locator(".text > .fields", { hasText: "maxFalseMatchRate" }).first().isVisible(),
    ).toBe(true);
    await page.locator('.contents a[href="#errors"]').click();
    expect(await page.locator("#error-NO_FACE").isVisible()).toBe(true);
  });
});
