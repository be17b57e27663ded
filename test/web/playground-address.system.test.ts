import { describe, expect, test } from "vitest";
import { hasBrowser } from "../support/browser.ts";
import { openPlayground, sampleFile } from "../support/playground.ts";
import { USER } from "../support/service.ts";
import { useSite } from "../support/site.ts";

describe.runIf(hasBrowser)("the address of the playground", () => {
  const site = useSite();

  test("keeps operation, sample and threshold when the user reloads or goes back", async () => {
    const { page, result, selectOperation } = await openPlayground(site.browser, site.service);
    const expectShown = async () => {
      await result.locator(".verdict").waitFor();
      expect(await page.getByRole("radio", { name: "Match" }).isChecked()).toBe(true);
      expect(await page.locator('[data-slot="1"] .about').textContent()).toContain("collins-copy.jpg");
      expect(await page.getByLabel("Threshold").inputValue()).toBe("0.52");
    };
    expect(page.url()).toBe(site.url("/"));
    await selectOperation("Match");
    await page.getByRole("button", { name: "Same person" }).click();
    await result.locator(".verdict.match").waitFor();
    await page.getByLabel("Threshold").fill("0.52");
    await expectShown();
    const address = page.url();
    expect(address).toBe(site.url("/?operation=match&sample=collins+collins-copy&threshold=0.52"));
    await page.reload();
    await expectShown();
    await page.getByRole("link", { name: "API reference" }).click();
    await page.waitForURL(site.url("/docs"));
    await page.goBack();
    await expectShown();
    expect(page.url()).toBe(address);
    expect(await page.locator("#code").textContent()).not.toContain("threshold=");
  });

  test("never has photos or keys", async () => {
    const { page, selectOperation, addPhotos } = await openPlayground(site.browser, site.service);
    await selectOperation("Embedding");
    await page.getByRole("button", { name: "Hopper", exact: true }).click();
    await page.waitForURL(site.url("/?operation=embedding&sample=hopper"));
    await addPhotos(0, sampleFile(3));
    expect(page.url()).toBe(site.url("/?operation=embedding"));
    expect(page.url()).not.toContain(USER);
  });

  test.each(["?operation=constructor&sample=nobody&threshold=x", "?sample=collins+hopper&threshold=9"])(
    "is ignored where it makes no sense: %s",
    async (query) => {
      const { page, result } = await openPlayground(site.browser, site.service);
      await page.goto(site.url(`/${query}`));
      await result.locator(".headline").waitFor();
      expect(await page.getByRole("radio", { name: "Attributes" }).isChecked()).toBe(true);
      await page.getByRole("radio", { name: "Match" }).check();
      expect(await page.getByLabel("Threshold").inputValue()).toBe("0.5");
    },
  );
});
