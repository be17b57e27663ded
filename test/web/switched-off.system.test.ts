import { describe, expect, onTestFinished, test } from "vitest";
import { PERMISSION_NAMES } from "../../src/permissions.ts";
import { hasBrowser, openTab } from "../support/browser.ts";
import { checkPage } from "../support/page-checks.ts";
import { openPlayground, sampleFile } from "../support/playground.ts";
import { USER } from "../support/service.ts";
import { type Site, useSite } from "../support/site.ts";

/** Opens a page of a site. At the end of the test it checks that there was no error. */
async function open(site: Site, path: string) {
  const { page, consoleErrors } = await openTab(site.browser, site.url(path));
  onTestFinished(() => expect(consoleErrors).toEqual([]));
  return page;
}

describe.runIf(hasBrowser)("the pages of a service that switches off some purposes", () => {
  const site = useSite({ VISAGE_OFF: "attributes,landmarks,urls,identify,delete" });

  test("the playground offers the rest, which works", async () => {
    const { page, result, slot, addPhotos, selectOperation, openOptions } = await openPlayground(
      site.browser,
      site.service,
    );
    const refused: string[] = [];
    page.on("response", (response) => {
      if (response.status() === 403) refused.push(response.url());
    });
    expect(await page.locator(".choice").allInnerTexts()).toEqual(["Attributes", "Match", "Embedding"]);
    expect(await page.locator(".samples button:visible").count()).toBe(4);
    expect(await page.getByLabel("Or the URL of a photo").isVisible()).toBe(false);
    expect(await page.locator("#operation-hint").textContent()).toBe("Quality of every face.");
    await result.getByText("Good for recognition").waitFor();
    expect(await result.textContent()).not.toMatch(/female|years|estimates/i);
    expect(await slot(0).locator(".point").count()).toBe(0);
    await addPhotos(0, sampleFile(3));
    await result.getByText("3 faces").waitFor();
    await selectOperation("Match");
    await addPhotos(0, sampleFile(3), sampleFile(5));
    await result.getByText("The most prominent face of photo 1").waitFor();
    await result.getByRole("button", { name: "Compare every face with every face" }).click();
    await result.locator(".matrix-box").waitFor();
    await page.getByRole("button", { name: "Collins", exact: true }).click();
    await result.getByText("1 face").waitFor();
    await page.evaluate(`{
      const clipboardData = new DataTransfer();
      clipboardData.setData("text/plain", "https://photos.invalid/1.jpg");
      document.body.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true }));
    }`);
    await selectOperation("Match");
    await slot(0)
      .locator("input[type=file]")
      .setInputFiles([sampleFile(1), sampleFile(3), sampleFile(5)]);
    await page.getByText("Batch finished: 3 of 3 photos").waitFor({ state: "attached" });
    expect(await page.locator(".batch .hint").textContent()).toBe("Quality of every face.");
    await openOptions();
    await checkPage(page, "playground with parts switched off");
    expect(refused).toEqual([]);
  });

  test("the reference has neither the operations nor their features and links", async () => {
    const page = await open(site, `/docs#user_id=${USER}`);
    const analysis = page.locator(".operation[aria-labelledby=v1AnalyzeImage]");
    await analysis.getByText("Try it").click();
    expect(await analysis.locator(".try fieldset label").allInnerTexts()).toEqual([
      "FEATURE_EMBEDDING",
      "FEATURE_QUALITY",
    ]);
    await analysis.getByRole("button", { name: "Send request" }).click();
    expect(await analysis.locator(".try-status").textContent()).toContain("200 Success");
    for (const id of ["v1IdentifyFaces", "getImageAttr"])
      expect(await page.locator(`#${id}, a[href="#${id}"]`).count(), id).toBe(0);
    expect(await page.locator("#v1EnrolFace, .contents a[href='#v1EnrolFace']").count()).toBe(2);
    const displays = await page.evaluate(
      `[...document.querySelectorAll(".fields > [data-permission]")]
        .map((field) => field.dataset.permission + " " + getComputedStyle(field).display)`,
    );
    expect(new Set(displays as string[])).toEqual(
      new Set(["urls none", "landmarks none", "attributes none", "embeddings block"]),
    );
    for (const [reason, count] of Object.entries({ FACE_NOT_FOUND: 0, PERSON_NOT_FOUND: 1, NO_SUCH_PATH: 1 }))
      expect(await page.locator(`#error-${reason}`).count(), reason).toBe(count);
  });

  test("the page of galleries offers to enrol, but not to search", async () => {
    const page = await open(site, `/galleries#user_id=${USER}`);
    const button = (name: string) => page.getByRole("button", { name, exact: true });
    await page.getByLabel("Name", { exact: true }).first().fill("Staff");
    await button("Create gallery").click();
    await page.getByRole("heading", { name: "Enrol a person" }).waitFor();
    expect(await page.getByRole("heading", { name: "Who is this?" }).isVisible()).toBe(false);
    expect(await button("Create a sample gallery").isVisible()).toBe(false);
    await button("Export").waitFor();
  });
});

describe.runIf(hasBrowser)("the pages of a service that switches off everything", () => {
  const site = useSite({ VISAGE_OFF: PERMISSION_NAMES.join(",") });

  test("the playground says that nothing is left", async () => {
    const page = await open(site, "/");
    await page.getByText("All that the playground can do is switched off.").waitFor();
    expect(await page.locator("main :is(form, button, input)").count()).toBe(0);
    await checkPage(page, "playground switched off");
  });

  test("the reference describes what nobody can switch off", async () => {
    const page = await open(site, "/docs");
    await page.getByLabel("Search").waitFor();
    expect(await page.locator(".service > h2").allTextContents()).toEqual(["Administration", "Health"]);
    expect(await page.locator(".contents .group > a").allTextContents()).toEqual([
      "Administration",
      "Health",
    ]);
    const dead = await page.evaluate(
      "[...document.querySelectorAll('.docs a[href^=\"#\"]')].map((link) => link.hash.slice(1)).filter((id) => !document.getElementById(id))",
    );
    expect(dead).toEqual([]);
    expect(await page.locator("#quickstart").locator("..").locator(".samples").count()).toBe(0);
  });
});
