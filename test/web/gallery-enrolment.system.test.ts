import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { createVisageClient } from "../../src/client/visage-client.ts";
import { agreeToLink, hasBrowser } from "../support/browser.ts";
import { answerWithPage, neverAnswer, startFaultyProxy } from "../support/faulty-proxy.ts";
import { createGalleryClient, type GalleryClient } from "../support/galleries.ts";
import { dropFiles, openGalleries, portrait } from "../support/galleries-page.ts";
import { checkPage } from "../support/page-checks.ts";
import type { UploadFile } from "../support/playground.ts";
import { USER } from "../support/service.ts";
import { useSite } from "../support/site.ts";

const NO_PHOTO = Buffer.from("no photo");

/** Writes files by their paths to a new folder, which is removed at the end of the test. */
function createFolder(files: Readonly<Record<string, UploadFile | Buffer>>): string {
  const folder = mkdtempSync(join(tmpdir(), "visage-people-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [path, file] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), Buffer.isBuffer(file) ? file : file.buffer);
  }
  return folder;
}

/** Drops a folder of this machine on the form. */
async function dropFolder(page: Page, path: string): Promise<void> {
  const zone = page.locator("#enrol-zone .drop-zone");
  await zone.scrollIntoViewIfNeeded();
  const { x, y } = (await zone.boundingBox())!;
  const session = await page.context().newCDPSession(page);
  const data = { items: [], files: [path], dragOperationsMask: 1 };
  for (const type of ["dragEnter", "dragOver", "drop"] as const)
    await session.send("Input.dispatchDragEvent", { type, x: x + 5, y: y + 5, data });
}

describe.runIf(hasBrowser)("enrolment on the galleries page", () => {
  const site = useSite();
  let client: GalleryClient;
  beforeAll(() => {
    client = createGalleryClient(site.service, USER);
  });

  const peopleOf = async (galleryId: string) => {
    const { people } = await client.listPeople({ galleryId });
    return Object.fromEntries(people.map(({ displayName, faces }) => [displayName, faces.length]));
  };

  test("asks before a stranger is enrolled under a name, or a known face under another one", async () => {
    const { page, create, enrol, person } = await openGalleries(site.browser, site.service);
    await create("Asking");
    await enrol("Ann", await portrait(1, 2));
    await enrol("Bob", await portrait(4, 0));
    expect(await page.locator("#person-name").inputValue()).toBe("");

    expect(await enrol("Ann", await portrait(3, 0))).toBe("0 photos enrolled, 1 not.");
    const row = page.locator(".enrol-row");
    await row.getByText("This face does not look like the other faces of Ann.").waitFor();
    await row.getByText("Distances").click();
    await row.getByText(/To Ann: 0\.\d\d\. .*below 0\.50/).waitFor();
    await checkPage(page, "galleries-doubt");
    await row.getByRole("button", { name: "Skip" }).click();
    expect(await row.count()).toBe(0);

    await enrol("Eve", await portrait(3, 1));
    await row.getByText("This face looks like Ann.").waitFor();
    expect(await peopleOf("asking")).toEqual({ Ann: 1, Bob: 1 });
    await row.getByRole("button", { name: "Enrol anyway" }).click();
    await person("Eve").waitFor();
    expect(await peopleOf("asking")).toEqual({ Ann: 1, Bob: 1, Eve: 1 });
  });

  test("photos of a new person that are dropped together are compared with each other", async () => {
    const { page, create, enrol } = await openGalleries(site.browser, site.service);
    await create("Together");
    const photos = [await portrait(1, 2), await portrait(3, 0), await portrait(3, 1)];
    expect(await enrol("Ann", ...photos)).toBe("2 photos enrolled, 1 not.");
    expect(await page.locator(".enrol-row[data-state=doubtful]").textContent()).toContain("portrait-3-0.jpg");
  });

  test("failures stay until they are dismissed, and a photo without a name never enrols", async () => {
    const { page, create, enrol } = await openGalleries(site.browser, site.service);
    await create("Failures");
    const notes = ["1.txt", "2.txt", "3.txt"].map((name) => ({
      name,
      mimeType: "text/plain",
      buffer: NO_PHOTO,
    }));
    await enrol("Ann", await portrait(1, 2), ...notes);
    await dropFiles(page.locator("#enrol-zone .drop-zone"), [await portrait(3, 0)]);
    await page.getByText("Enter a name, then press “Enrol”.").waitFor();
    const rows = page.locator(".enrol-row");
    expect(await rows.locator("strong").allTextContents()).toEqual([
      "1.txt",
      "2.txt",
      "3.txt",
      "portrait-3-0.jpg",
    ]);
    await page.getByRole("button", { name: /^Dismiss.*2\.txt$/ }).click();
    expect(await rows.count()).toBe(3);
    await page.getByRole("button", { name: "Dismiss all" }).click();
    expect(await rows.locator("strong").allTextContents()).toEqual(["portrait-3-0.jpg"]);
    await page.getByRole("button", { name: /^Dismiss.*portrait-3-0\.jpg$/ }).click();
    expect(await page.getByRole("button", { name: /^Enrol \d/ }).isVisible()).toBe(false);
    expect(await peopleOf("failures")).toEqual({ Ann: 1 });
  });

  test("a key that may not search enrols without the check", async () => {
    const account = createVisageClient({ address: site.url(""), apiKey: USER });
    onTestFinished(() => account.close());
    const { key } = await account.account.createKey({ scopes: ["read", "enrol"] });
    const { page, create, enrol } = await openGalleries(site.browser, site.service);
    await create("Unchecked");
    await enrol("Ann", await portrait(1, 2));
    await page.goto("about:blank");
    await page.goto(site.url(`/galleries#user_id=${key}`));
    await agreeToLink(page);
    await page.getByRole("link", { name: "Unchecked" }).click();
    await page.locator(".person").waitFor();
    expect(await enrol("Ann", await portrait(3, 0))).toBe("1 photo enrolled.");
  });

  test("a folder of folders gives one person each, after a preview, and again only what is new", async () => {
    const { page, create, enrol, person } = await openGalleries(site.browser, site.service);
    await create("Folders");
    await enrol("Bob", await portrait(4, 0));
    const folder = createFolder({
      "people/Ann Müller/1.jpg": await portrait(1, 2),
      "people/Ann Müller/more/2.jpg": await portrait(3, 1),
      "people/Bob/stranger.jpg": await portrait(3, 0),
      "people/Eve/damaged.jpg": NO_PHOTO,
      "people/Eve/notes.txt": NO_PHOTO,
      "people/loose.jpg": await portrait(5, 0),
    });
    await dropFolder(page, join(folder, "people"));
    const dialog = page.getByRole("dialog", { name: "Enrol 3 people?" });
    await dialog.waitFor();
    expect(await dialog.locator("li").allTextContents()).toEqual([
      "Ann Müller 2 photos, new",
      "Bob 1 photo, added to 1 face",
      "Eve 1 photo, new",
    ]);
    await dialog.getByText("Skipped: 1 photo in no folder of a person.").waitFor();
    await checkPage(page, "galleries-folder-preview");
    expect(await peopleOf("folders")).toEqual({ Bob: 1 });
    await dialog.getByRole("button", { name: "Enrol 4 photos" }).click();
    await page.getByText("2 photos enrolled, 2 not.").waitFor();
    // Only failures have rows.
    const texts = (await page.locator(".enrol-row").allTextContents()).sort();
    expect(texts).toEqual([
      expect.stringContaining("people/Bob/stranger.jpgThis face does not look like the other faces of Bob."),
      expect.stringContaining("people/Eve/damaged.jpg"),
    ]);
    await person("Ann Müller").waitFor();
    expect(await peopleOf("folders")).toEqual({ "Ann Müller": 2, Bob: 1 });

    await page.locator("#choose-folder + input").setInputFiles(join(folder, "people"));
    await page.getByRole("dialog").getByText("Ann Müller 2 photos, added to 2 faces").waitFor();
    await page.getByRole("button", { name: "Enrol 4 photos" }).click();
    await page.getByText("0 photos enrolled, 2 enrolled before, 2 not.").waitFor();
    expect(await peopleOf("folders")).toEqual({ "Ann Müller": 2, Bob: 1 });
  });

  test("loose photos of a folder belong to the named person, and two people of one name are skipped", async () => {
    const { page, create } = await openGalleries(site.browser, site.service);
    await create("Loose");
    for (const personId of ["1", "2"]) {
      const source = {
        source: {
          case: "image",
          value: { source: { case: "content", value: (await portrait(4, Number(personId))).buffer } },
        },
      } as const;
      await client.enrolFace({ galleryId: "loose", personId, displayName: "Bob", source });
    }
    const folder = createFolder({
      "people/a.jpg": await portrait(1, 2),
      "people/Bob/b.jpg": await portrait(4, 1),
    });
    await page.locator("#person-name").fill("Ann");
    await dropFolder(page, join(folder, "people"));
    const dialog = page.getByRole("dialog", { name: "Enrol 1 person?" });
    await dialog.getByText("Ann 1 photo, new").waitFor();
    await dialog.getByText("Several people are named Bob.").waitFor();
    await dialog.getByRole("button", { name: "Enrol 1 photo" }).click();
    await page.getByText("1 photo enrolled.").waitFor();
    expect(await page.locator("#person-name").inputValue()).toBe("");
  });

  test("a folder can be cancelled, and stops when the service is gone", async () => {
    const proxy = await startFaultyProxy(site.service);
    onTestFinished(() => proxy.close());
    const { page, create } = await openGalleries(site.browser, proxy);
    await create("Stopped");
    const photo = await portrait(1, 2);
    const names = Array.from({ length: 20 }, (_, i) => `people/p${i}/1.jpg`);
    const folder = createFolder(Object.fromEntries(names.map((name) => [name, photo])));
    const choose = async () => {
      await page.locator("#choose-folder + input").setInputFiles(join(folder, "people"));
      await page.getByRole("dialog").waitFor();
    };
    const leftOut = page.getByText("0 photos enrolled, 2 not. 18 photos left out: choose the folder again");
    await choose();
    proxy.setFault(neverAnswer);
    await page.getByRole("button", { name: "Enrol 20 photos" }).click();
    await page.getByText("0 of 20 photos").waitFor();
    await page.locator("#cancel-enrol").click();
    await leftOut.waitFor();
    await page.getByRole("button", { name: "Dismiss all" }).click();
    proxy.setFault(undefined);
    await choose();
    proxy.setFault(answerWithPage(502, "Bad Gateway"));
    await page.getByRole("button", { name: "Enrol 20 photos" }).click();
    await leftOut.waitFor();
  });
});
