import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import sharp from "sharp";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { enterKey, hasBrowser, openTab } from "../support/browser.ts";
import { answerWithPage, neverAnswer, startFaultyProxy } from "../support/faulty-proxy.ts";
import { createGalleryClient, type GalleryClient, MODEL, testPeople } from "../support/galleries.ts";
import { blurredPortrait, dropFiles, openGalleries, portrait } from "../support/galleries-page.ts";
import { plainImage } from "../support/images.ts";
import { checkPage, SIZES } from "../support/page-checks.ts";
import { sampleFile, type UploadFile } from "../support/playground.ts";
import { hasPostgres, startPostgres } from "../support/postgres.ts";
import { startTestService, USER } from "../support/service.ts";
import { useSite } from "../support/site.ts";

/** The woman who is in sample 1 (face 2) and in sample 3 (face 1). */
const ANN = [1, 2] as const;
const TEXT_FILE = { name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("no photo") };

describe.runIf(hasBrowser)("the galleries page", () => {
  const site = useSite();
  let client: GalleryClient;
  beforeAll(() => {
    client = createGalleryClient(site.service, USER);
  });

  test("asks for an API key, and says what is wrong with one", async () => {
    const { page } = await openTab(site.browser, site.url("/galleries"));
    await page.getByText("Enter your API key to see your galleries.").waitFor();
    expect(await page.locator("#create").isVisible()).toBe(false);
    await enterKey(page, "nobody");
    await page.keyboard.press("Enter");
    await page.getByText("Check it for typing errors").waitFor();
    await enterKey(page, USER);
    await page.keyboard.press("Enter");
    await expect.poll(() => page.locator("#list-message").textContent()).not.toContain("typing errors");
    await page.getByText("New gallery").waitFor();
  });

  test("creates a gallery with an id made from its name, and shows it again after a reload", async () => {
    const { page, create } = await openGalleries(site.browser, site.service);
    await create("Café Staff");
    expect(await client.getGallery({ galleryId: "cafe-staff" })).toMatchObject({
      gallery: { displayName: "Café Staff" },
    });
    expect(new URL(page.url()).hash).toBe("#gallery=cafe-staff");
    await page.reload();
    await page.getByRole("heading", { name: "Café Staff" }).waitFor();
    expect(await page.locator(".gallery-list [aria-current]").textContent()).toContain("0 people · 0 faces");
    for (const id of ["missing", "cafe-staff", "missing", "cafe-staff"])
      await page.evaluate(`location.hash = "#gallery=${id}"`);
    await expect.poll(() => page.locator("#gallery").isVisible()).toBe(true);
    expect(await page.locator("#gallery-id").textContent()).toBe("cafe-staff");
    await page.getByText("New gallery").click();
    await page.locator("#new-id").fill("cafe-staff");
    await page.getByRole("button", { name: "Create gallery" }).click();
    await page.getByText("Choose another id.").waitFor();
    await page.locator("#new-id").fill("a/b");
    await page.getByRole("button", { name: "Create gallery" }).click();
    await page.getByText("An id has 1 to 128 letters").waitFor();
  });

  test("enrols dropped photos; each fails alone with its reason", async () => {
    const { page, create, enrol, person } = await openGalleries(site.browser, site.service);
    await create("Enrolment");
    const empty = { name: "wall.png", mimeType: "image/png", buffer: await plainImage(300, 300, "#888888") };
    const blurred = await blurredPortrait(3, 1);
    expect(await enrol("Ann", await portrait(...ANN), blurred, empty, TEXT_FILE)).toBe(
      "1 photo enrolled, 3 not.",
    );
    const rows = await page.locator(".enrol-row").allTextContents();
    expect(rows).toEqual([
      expect.stringContaining("Enrolled"),
      expect.stringMatching(/The sharpness is \d+ of 100\. Hold the camera still and focus on the face\./),
      expect.stringContaining("No face was found"),
      expect.stringContaining("notes.txt is not a JPEG or PNG image"),
    ]);
    await page.getByRole("button", { name: "Enrol anyway" }).click();
    // So blurred, the face is not recognized.
    await page.getByText("This face does not look like the other faces of Ann.").waitFor();
    await page.getByRole("button", { name: "Enrol anyway" }).click();
    await page.getByText("1 photo enrolled.").waitFor();
    await person("Ann").getByText("2 faces").waitFor();
    await page.getByText("1 person, 2 faces").waitFor();

    const { people } = await client.listPeople({ galleryId: "enrolment" });
    expect(people).toMatchObject([{ displayName: "Ann", faces: [{}, {}] }]);
    // Ids are in the log, so they must not contain the name.
    expect(people[0]!.personId).toMatch(/^p-[0-9a-f]{16}$/);
    // The page knows the photos of this tab only.
    expect(await person("Ann").locator("canvas.face-crop").count()).toBeGreaterThan(0);
    await page.reload();
    await person("Ann").waitFor();
    expect(await person("Ann").locator("canvas.face-crop").count()).toBe(0);
  });

  test("photos that are dropped before the name wait for it, and the same name is the same person", async () => {
    const { page, create, enrol, person } = await openGalleries(site.browser, site.service);
    await create("Order");
    await dropFiles(page.locator("#enrol-zone .drop-zone"), [await portrait(...ANN)]);
    await page.getByText("Enter a name, then press “Enrol”.").waitFor();
    await page.locator("#person-name").fill("Ann");
    await page.getByRole("button", { name: "Enrol 1 photo" }).click();
    await person("Ann").waitFor();
    expect(await page.locator("#person-name").inputValue()).toBe("");
    await enrol("Ann", await portrait(3, 1));
    await person("Ann").getByText("2 faces").waitFor();
    await enrol("Bea", await portrait(3, 0));
    await person("Ann").getByRole("button", { name: "Add photos" }).click();
    expect(await page.locator("#person-name").inputValue()).toBe("Ann");
    expect((await client.listPeople({ galleryId: "order" })).people).toHaveLength(2);
  });

  test("tells who is in a photo, says unknown, and shows the nearest people on request", async () => {
    const { page, create, enrol, identify, result } = await openGalleries(site.browser, site.service);
    await create("Search");
    await enrol("Ann <b>", await portrait(...ANN));
    await enrol("Bea", await portrait(4, 0));
    await identify(sampleFile(3));
    const source = sourceOf(sampleFile(3));
    const expected = await client.identifyFaces({ galleryId: "search", source, maxResults: 3 });
    const verdicts = await result.locator(".who").allTextContents();
    expect(verdicts).toEqual(
      expected.faces.map(({ matches }, i) =>
        expect.stringContaining(`Face ${i + 1}: ${matches[0]?.displayName ?? "Unknown"}`),
      ),
    );
    expect(verdicts.join()).toContain("Ann <b>");
    expect(await result.textContent()).toContain(expected.faces[0]!.matches[0]!.distance.toFixed(2));
    expect(await result.textContent()).toContain(`below ${expected.faces[0]!.threshold.toFixed(3)}`);
    expect(await result.textContent()).toMatch(/gallery of this size\s*about 1 in [\d,]+ strangers/);
    expect(await result.locator("details[open]").count()).toBe(0);
    expect(await page.locator(".face-box").count()).toBe(3);
    expect(await result.locator(".no-match").count()).toBe(0);

    await result.getByRole("button", { name: /nearest people/ }).click();
    await result.getByText("all above the threshold").first().waitFor();
    const nearest = await client.identifyFaces({
      galleryId: "search",
      source,
      maxResults: 3,
      maxDistance: 0.9,
    });
    const candidates = await result.locator(".no-match").allTextContents();
    expect(candidates).toHaveLength(4);
    expect(candidates[0]).toContain(nearest.faces[1]!.matches[0]!.distance.toFixed(2));
    expect(await result.locator(".who").allTextContents()).toEqual(verdicts);

    // Large photos and other formats are converted by the browser, and the boxes fit the original.
    const left = await leftOfFirstBox(page);
    const webp = await sharp(sampleFile(3).buffer).resize(3000).webp().toBuffer();
    await identify({ name: "large.webp", mimeType: "image/webp", buffer: webp });
    expect(await result.locator(".who.known").textContent()).toContain("Ann <b>");
    const scaledLeft = await leftOfFirstBox(page);
    expect(Math.abs(scaledLeft - left)).toBeLessThan(5);

    const wall = { name: "wall.png", mimeType: "image/png", buffer: await plainImage(300, 300, "#888888") };
    await identify(wall);
    expect(await result.textContent()).toBe("No face was found in this photo.");
    await dropFiles(page.locator("#identify-zone .drop-zone"), [TEXT_FILE]);
    await page.getByText("notes.txt is not a JPEG or PNG image").waitFor();
  });

  test("a large gallery gives candidates and not a verdict", async () => {
    const galleryId = "large";
    await client.createGallery({ galleryId });
    await client.importFaces(
      (async function* () {
        for (const { personId, faceId, values } of testPeople(10_001, 1))
          yield { galleryId, personId, faceId, embedding: { values, model: MODEL } };
      })(),
    );
    const { page, enrol, identify, result, person } = await openGalleries(site.browser, site.service);
    await page.locator(".gallery-list").getByText("10,001 people").click();
    await person("p0").waitFor();
    expect(await page.locator(".person").count()).toBe(50);
    await page.getByText("only the first 10,000 by id are listed and searched").waitFor();
    await enrol("Ann", await portrait(...ANN));
    await identify(await portrait(...ANN));
    expect(await result.textContent()).toContain(
      "Only a hint: this gallery has more than 10,000 faces. A person must check it.",
    );
    expect(await result.locator(".who").first().textContent()).toContain("Perhaps Ann");
  });

  test.skipIf(!hasPostgres)("says that an answer without the database may be stale", async () => {
    const postgres = await startPostgres();
    onTestFinished(() => postgres.remove());
    const databaseUrl = await postgres.createDatabase();
    const grace = { VISAGE_DATABASE_URL: databaseUrl, VISAGE_ACCOUNTS_GRACE_MS: "600000" };
    const replica = await startTestService(grace);
    onTestFinished(() => replica.close());
    const { page, create, enrol, identify, result } = await openGalleries(site.browser, replica);
    await create("Stale");
    await enrol("Ann", await portrait(...ANN));
    await identify(await portrait(...ANN));
    expect(await result.textContent()).not.toContain("The database cannot be reached");
    await postgres.stop();
    await identify(await portrait(...ANN));
    expect(await result.textContent()).toContain("The database cannot be reached. Names are missing");
    await page.reload();
    await page.getByText("Galleries cannot be reached at the moment. Try again shortly.").first().waitFor();
  });

  test("renames and deletes a gallery, and asks first", async () => {
    const { page, create, enrol } = await openGalleries(site.browser, site.service);
    await create("Changes");
    await enrol("Ann", await portrait(...ANN));
    await page.locator("#rename-gallery").click();
    await page.keyboard.type("Renamed");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Renamed" }).waitFor();
    await page.locator("#delete-gallery").click();
    expect(await page.getByRole("dialog").textContent()).toContain("1 person and 1 template");
    await page.getByRole("dialog").getByRole("button", { name: "Delete gallery" }).click();
    await page.locator("#gallery").waitFor({ state: "hidden" });
    await expect(client.getGallery({ galleryId: "changes" })).rejects.toThrow(/does not exist|no gallery/);
    await expect.poll(() => page.locator(".gallery-list").textContent()).not.toContain("Renamed");
  });

  test("exports a gallery as a file, and imports it into another one", async () => {
    const { page, create, enrol, person, identify, result } = await openGalleries(site.browser, site.service);
    await create("Original");
    await enrol("Ann", await portrait(...ANN));
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Export", exact: true }).click(),
    ]);
    expect(download.suggestedFilename()).toBe("original.jsonl");
    await page.getByText("1 face exported. The file is biometric data: protect it.").waitFor();
    const buffer = await readFile(await download.path());

    await create("Copy");
    const importFile = async (content: Buffer) => {
      const chooser = page.waitForEvent("filechooser");
      await page.getByRole("button", { name: "Import" }).click();
      const file = { name: "original.jsonl", mimeType: "application/x-ndjson", buffer: content };
      await (await chooser).setFiles(file);
    };
    await importFile(Buffer.from('{"personId":"x"}\n'));
    await page.locator("#gallery-problem").getByText("embedding").waitFor();
    await importFile(Buffer.from("no JSON"));
    await page.locator("#gallery-problem").getByText("Line 1").waitFor();
    await importFile(buffer);
    await page.getByText("1 face imported.").waitFor();
    await person("Ann").waitFor();
    await identify(sampleFile(3));
    expect(await result.locator(".who.known").textContent()).toContain("Ann");
  });

  test("a photo can be cancelled and tried again, and leaving asks while photos are enrolled", async () => {
    const proxy = await startFaultyProxy(site.service);
    onTestFinished(() => proxy.close());
    const { page, create, person } = await openGalleries(site.browser, proxy);
    await create("Slow");
    await page.locator("#person-name").fill("Ann");
    proxy.setFault(neverAnswer);
    await dropFiles(page.locator("#enrol-zone .drop-zone"), [await portrait(...ANN)]);
    await page.getByText("Looking for the face…").waitFor();
    await page.evaluate("location.hash = '#gallery=cafe-staff'");
    await page.getByRole("dialog", { name: "Stop enrolling?" }).waitFor();
    await page.keyboard.press("Escape");
    await expect.poll(() => page.evaluate("location.hash")).toBe("#gallery=slow");
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByText("0 photos enrolled, 1 not.").waitFor();
    proxy.setFault(answerWithPage(502, "Bad Gateway"));
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByText("The proxy answered 502 Bad Gateway.").waitFor();
    proxy.setFault(undefined);
    await page.getByRole("button", { name: "Try again" }).click();
    await person("Ann").waitFor();
  });

  describe("in a gallery of two people", () => {
    beforeAll(async () => {
      await client.createGallery({ galleryId: "review", displayName: "Review" });
      const long = "Maximiliane Featherstonehaugh-Cholmondeley";
      await client.enrolFace({ ...enrolmentOf("17", "Ann"), source: sourceOf(await portrait(...ANN)) });
      await client.enrolFace({ ...enrolmentOf("17", "Ann"), source: sourceOf(await portrait(3, 1)) });
      await client.enrolFace({ ...enrolmentOf("18", long), source: sourceOf(await portrait(4, 0)) });
    });
    const enrolmentOf = (personId: string, displayName: string) => ({
      galleryId: "review",
      personId,
      displayName,
    });

    test.each(SIZES)("works at %s", async (name, options) => {
      const { page, enrol, identify, result, person } = await openGalleries(
        site.browser,
        site.service,
        options,
      );
      await checkPage(page, `galleries-list-${name}`);
      await page.getByRole("link", { name: "Review" }).click();
      await person("Ann").getByText("2 faces").click();
      await enrol("Ann", await portrait(3, 1), await blurredPortrait(4, 2), TEXT_FILE);
      await identify(sampleFile(3));
      await result.getByRole("button", { name: /nearest people/ }).click();
      await result.getByText("all above the threshold").first().waitFor();
      await result.getByText("How sure is this?").first().click();
      await checkPage(page, `galleries-${name}`);
      await page.locator("#delete-gallery").click();
      await checkPage(page, `galleries-delete-${name}`);
    });
  });
});

/** The source of a request that has a photo. */
function sourceOf({ buffer }: UploadFile) {
  return {
    source: { case: "image", value: { source: { case: "content", value: buffer } } },
  } as const;
}

/** The position of the first box on the photo, in pixels. */
function leftOfFirstBox(page: Page): Promise<number> {
  return page
    .locator(".face-box")
    .first()
    .evaluate((box) => (box as unknown as { offsetLeft: number }).offsetLeft);
}
