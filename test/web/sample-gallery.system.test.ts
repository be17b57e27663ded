import { afterEach, describe, expect, test } from "vitest";
import { enterKey, hasBrowser, openTab } from "../support/browser.ts";
import { createGalleryClient } from "../support/galleries.ts";
import { openGalleries } from "../support/galleries-page.ts";
import { checkPage, SIZES } from "../support/page-checks.ts";
import { USER } from "../support/service.ts";
import { useSite } from "../support/site.ts";

describe.runIf(hasBrowser)("the galleries page of a user without galleries", () => {
  const site = useSite();
  afterEach(async () => {
    const client = createGalleryClient(site.service, USER);
    const { galleries } = await client.listGalleries({});
    for (const { galleryId } of galleries) await client.deleteGallery({ galleryId });
  });

  test.each(SIZES)("explains itself and shows a sample at %s", async (name, options) => {
    const { page, result, person } = await openGalleries(site.browser, site.service, options);
    await page.getByRole("heading", { name: "How it works" }).waitFor();
    await checkPage(page, `galleries-guide-${name}`);
    await page.getByRole("button", { name: "Create a sample gallery" }).click();
    await result.getByText("Eileen Collins").waitFor();
    await person("Grace Hopper").getByText("1 face").waitFor();
    await person("Eileen Collins").getByRole("img").first().waitFor();
    await page.getByText("2 people · 2 faces").waitFor();
    expect(await page.locator("#guide").isVisible()).toBe(false);
    await checkPage(page, `galleries-sample-${name}`);
  });

  test("goes on with the sample after a failure", async () => {
    const { page } = await openTab(site.browser, site.url(`/galleries#user_id=${USER}`));
    const button = page.getByRole("button", { name: "Create a sample gallery" });
    const failures = {
      "**/assets/*hopper-*.jpg": "The sample photos could not be loaded.",
      "**/grace-hopper/faces*": "The service could not be reached.",
    };
    for (const [path, text] of Object.entries(failures)) {
      await page.route(path, (route) => route.abort(), { times: 1 });
      await button.click();
      await page.getByText(text).waitFor();
    }
    await button.click();
    await page.locator("#identify-result").getByText("Eileen Collins").waitFor();
  });

  test("offers no sample without an API key or with another gallery", async () => {
    const { page } = await openTab(site.browser, site.url("/galleries"));
    await page.getByRole("heading", { name: "How it works" }).waitFor();
    expect(await page.locator("#sample-offer").isVisible()).toBe(false);
    await createGalleryClient(site.service, USER).createGallery({ galleryId: "other" });
    await enterKey(page, USER);
    await page.keyboard.press("Enter");
    await page.getByText("0 people · 0 faces").waitFor();
    expect(await page.locator("#sample-offer").isVisible()).toBe(false);
  });
});
