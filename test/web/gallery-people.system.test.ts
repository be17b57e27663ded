import { readFile } from "node:fs/promises";
import { createAsyncIterable } from "@connectrpc/connect/protocol";
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { hasBrowser } from "../support/browser.ts";
import { answerWithPage, neverAnswer, startFaultyProxy } from "../support/faulty-proxy.ts";
import {
  createGalleryClient,
  embeddingSource,
  type GalleryClient,
  MODEL,
  testPeople,
} from "../support/galleries.ts";
import { dropFiles, openGalleries, portrait } from "../support/galleries-page.ts";
import { checkPage, SIZES } from "../support/page-checks.ts";
import { sampleFile } from "../support/playground.ts";
import { USER } from "../support/service.ts";
import { useSite } from "../support/site.ts";

describe.runIf(hasBrowser)("the people of a gallery", () => {
  const site = useSite();
  const vectors = testPeople(60 * 20, 5).map(({ values }) => values);
  let client: GalleryClient;
  beforeAll(() => {
    client = createGalleryClient(site.service, USER);
  });
  /** Creates a gallery if it is missing, and enrols a person by templates of the test. */
  const enrolVectors = async (
    galleryId: string,
    personId: string,
    displayName: string,
    ...faces: number[]
  ) => {
    await client.createGallery({ galleryId }).catch(() => {});
    for (const [i, face] of faces.entries())
      await client.enrolFace({
        galleryId,
        personId,
        displayName,
        faceId: `f${i}`,
        source: embeddingSource(vectors[face]!),
      });
  };
  const open = async (galleryId: string, port = site.service.port, options = {}) => {
    const opened = await openGalleries(site.browser, { port }, options);
    await opened.page.evaluate(`location.hash = "#gallery=${galleryId}"`);
    await opened.page.locator(".person").first().waitFor();
    return opened;
  };
  const edit = async (page: Page, personId: string, action?: string) => {
    await page.locator(`[data-person="${personId}"] [data-action=edit]`).click();
    if (action) await page.getByRole("dialog").getByRole("button", { name: action }).click();
  };
  const press = (page: Page, name: string) =>
    page.getByRole("dialog").getByRole("button", { name, exact: true }).click();
  const exportedFaces = async (galleryId: string, personId: string) => {
    for await (const { faces } of client.exportPerson({ galleryId, personId })) return faces;
    return [];
  };

  test("are sorted by name and found by name or id, and no name is in an address", async () => {
    const galleryId = "many";
    await client.createGallery({ galleryId });
    // Their faces need several pages, and their ids have another order than their names.
    const faces = vectors.map((values, i) => ({
      galleryId,
      personId: `p${String(Math.floor(i / 20)).padStart(2, "0")}`,
      faceId: `f${i % 20}`,
      displayName: `Person ${60 - Math.floor(i / 20)}`,
      embedding: { values, model: MODEL },
    }));
    await client.importFaces(createAsyncIterable(faces));
    const { page, person } = await open(galleryId);
    const urls: string[] = [];
    page.on("request", (request) => urls.push(request.url()));
    const names = () => page.locator(".person h3").allTextContents();
    expect((await names()).slice(0, 3)).toEqual(["Person 1", "Person 2", "Person 3"]);
    expect(await names()).toHaveLength(50);
    await page.locator("#more-people").click();
    expect(await names()).toHaveLength(60);

    await edit(page, "p07");
    await page.keyboard.type("Ánna");
    await page.keyboard.press("Enter");
    await person("Ánna").waitFor();
    expect((await names())[0]).toBe("Ánna");
    expect(await names()).toHaveLength(60);
    await expect.poll(() => page.evaluate("document.activeElement.textContent")).toBe("Edit Ánna");

    const search = page.getByLabel("Search by name or id");
    await search.fill("anna");
    expect(await names()).toEqual(["Ánna"]);
    await page.getByText("1 of 60 people.").waitFor();
    await search.fill("P59");
    expect(await names()).toEqual(["Person 1"]);
    await search.fill("Zoe");
    await page.getByText("Nobody is named like this.").waitFor();
    await search.fill("");
    expect(await names()).toHaveLength(50);
    expect(urls.filter((url) => /nna|Zoe/i.test(decodeURIComponent(url)))).toEqual([]);
  });

  test("can be exported and deleted, in this gallery or in all, with a receipt", async () => {
    for (const galleryId of ["shop", "office"]) await enrolVectors(galleryId, "p1", "Ann", 0, 1);
    await enrolVectors("shop", "p2", "Bea", 2);
    const { page, person } = await open("shop");
    const save = async (name: string) => {
      const [download] = await Promise.all([page.waitForEvent("download"), name && press(page, name)]);
      const text = await readFile(await download.path(), "utf8");
      return text
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line));
    };
    await edit(page, "p1", "Export…");
    expect(await save("Export")).toMatchObject([{ galleryId: "shop", displayName: "Ann", faces: [{}, {}] }]);
    await page.getByText("Ann is exported.").waitFor();
    await edit(page, "p1", "Export…");
    await page.getByLabel("From all my galleries").check();
    expect((await save("Export")).map(({ galleryId }) => galleryId)).toEqual(["office", "shop"]);

    await person("Ann").getByText("2 faces").click();
    await person("Ann").getByRole("button", { name: "Delete Face f0" }).click();
    await press(page, "Delete face");
    await person("Ann").getByText("1 face", { exact: false }).waitFor();
    expect(await person("Ann").locator("details[open]").count()).toBe(1);
    await page.getByText("2 people, 2 faces").waitFor();

    await edit(page, "p1", "Delete…");
    await page.keyboard.press("Enter");
    expect(await page.getByRole("dialog").count()).toBe(0);
    expect(await person("Ann").count()).toBe(1);
    await edit(page, "p1", "Delete…");
    await page.getByLabel("From all my galleries").check();
    await press(page, "Delete person");
    await page.getByText("Ann is deleted from 2 galleries, with 3 templates.").waitFor();
    await person("Ann").waitFor({ state: "detached" });
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Save the receipt" }).click(),
    ]);
    expect(JSON.parse(await readFile(await download.path(), "utf8"))).toMatchObject({
      personId: "p1",
      deletions: [
        { galleryId: "office", faceCount: 2 },
        { galleryId: "shop", faceCount: 1 },
      ],
    });
    expect((await client.listPeople({ galleryId: "office" })).people).toEqual([]);
  });

  test("can be merged, and a merge that fails can be repeated", async () => {
    const galleryId = "twins";
    // Both have faces with the same ids, which are of different templates.
    await enrolVectors(galleryId, "p1", "Ann", 0, 1);
    await enrolVectors(galleryId, "p2", "Ann", 2);
    await enrolVectors(galleryId, "p3", "Bea", 3);
    const end = new Date(Date.now() + 86_400_000);
    const expireTime = { seconds: BigInt(Math.floor(end.getTime() / 1000)), nanos: 0 };
    await client.updatePerson({
      galleryId,
      personId: "p2",
      expiration: { case: "expireTime", value: expireTime },
    });
    const proxy = await startFaultyProxy(site.service);
    onTestFinished(() => proxy.close());
    const { page } = await open(galleryId, proxy.port);
    const merge = async () => {
      await edit(page, "p1", "Merge…");
      expect(await page.getByRole("option").allTextContents()).toEqual([
        "Ann (p2), 1 face",
        "Bea (p3), 1 face",
      ]);
      await page.getByLabel("Search by name or id").last().fill("ann");
      await page.getByRole("listbox").selectOption({ index: 0 });
      await press(page, "Continue");
      const dialog = page.getByRole("dialog", { name: "Merge Ann into Ann?" });
      expect(await dialog.textContent()).toContain("2 faces of Ann (p1), who is then deleted");
      expect(await dialog.textContent()).toContain(
        "Ann (p2) keeps the name, the id and the date of deletion",
      );
      return dialog;
    };
    // The faces cannot be added: nothing has changed.
    const dialog = await merge();
    proxy.setFault(answerWithPage(502, "Bad Gateway"));
    await press(page, "Merge");
    await dialog.getByText("502 Bad Gateway").waitFor();
    expect(await exportedFaces(galleryId, "p1")).toHaveLength(2);
    proxy.setFault(undefined);
    // The faces are added, but the person cannot be deleted. The dialog is closed meanwhile.
    let continueDeletion = () => {};
    await page.route("**/people/p1", async (route) => {
      if (route.request().method() !== "DELETE") return route.continue();
      await new Promise<void>((resolve) => {
        continueDeletion = resolve;
      });
      await route.fulfill({ status: 502, body: "<html>" });
    });
    const deletion = page.waitForRequest((request) => request.method() === "DELETE");
    await press(page, "Merge");
    await deletion;
    await press(page, "Cancel");
    continueDeletion();
    await page.locator("#people-problem").getByText("502 Bad Gateway").waitFor();
    await page.locator("[data-person=p2]").getByText("3 faces").waitFor();
    expect(await exportedFaces(galleryId, "p1")).toHaveLength(2);

    await page.unroute("**/people/p1");
    await edit(page, "p1", "Merge…");
    await page.getByRole("listbox").selectOption("p2");
    await press(page, "Continue");
    await press(page, "Merge");
    await page.getByText("Ann (p1) is merged into Ann (p2).").waitFor();
    await page.locator("[data-person=p1]").waitFor({ state: "detached" });
    const { person } = await client.getPerson({ galleryId, personId: "p2" });
    expect(person).toMatchObject({ displayName: "Ann", expireTime });
    const firsts = (await exportedFaces(galleryId, "p2")).map(({ embedding }) => embedding!.values[0]);
    expect(firsts.toSorted()).toEqual([0, 1, 2].map((i) => Math.fround(vectors[i]![0]!)).toSorted());
  });

  test("are not brought back by a merge after they were deleted", async () => {
    await enrolVectors("late", "p1", "Ann", 0);
    await enrolVectors("late", "p2", "Bea", 1);
    const { page } = await open("late");
    await edit(page, "p1", "Merge…");
    await page.getByRole("listbox").selectOption("p2");
    await press(page, "Continue");
    await client.deletePerson({ galleryId: "late", personId: "p2" });
    await press(page, "Merge");
    await page.getByRole("dialog").getByText("may have been deleted").waitFor();
    await page.locator("[data-person=p2]").waitFor({ state: "detached" });
    expect((await client.listPeople({ galleryId: "late" })).people).toMatchObject([{ personId: "p1" }]);
  });

  test("keep the photos of this tab when they are merged", async () => {
    const { page, create, enrol, person, identify, result } = await openGalleries(site.browser, site.service);
    await create("Photos");
    await enrol("Ann", await portrait(1, 2));
    await enrol("Anna", await portrait(3, 1));
    await page.getByRole("button", { name: "Enrol anyway" }).click();
    await person("Anna").waitFor();
    await person("Ann").getByRole("button", { name: "Edit" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Merge…" }).click();
    await page.getByRole("listbox").selectOption({ index: 0 });
    await press(page, "Continue");
    await press(page, "Merge");
    await person("Anna").getByText("2 faces").waitFor();
    // Of the person, and of both faces.
    expect(await person("Anna").locator("canvas").count()).toBe(3);
    await identify(sampleFile(3));
    expect(await result.locator(".who.known").textContent()).toContain("Anna");
  });

  test("are told about in words, and a cancelled search brings back the last result", async () => {
    const galleryId = "words";
    await client.createGallery({ galleryId });
    const proxy = await startFaultyProxy(site.service);
    onTestFinished(() => proxy.close());
    const { page, enrol, identify, result } = await openGalleries(site.browser, proxy);
    await page.evaluate(`location.hash = "#gallery=${galleryId}"`);
    await enrol("Ann", await portrait(1, 2));
    await identify(await portrait(3, 1));
    const text = await result.innerText();
    expect(text).toMatch(
      /Ann\s+A match, at distance 0\.\d\d\.\s+[✓✗] (Good|Not good) for recognition.*\s+Numbers\s+How sure is this\?$/,
    );
    await result.getByText("How sure is this?").click();
    expect(await result.innerText()).toMatch(/This holds for\s+women of 20 to 59/);

    const drop = async () => dropFiles(page.locator("#identify-zone .drop-zone"), [await portrait(4, 0)]);
    proxy.setFault(neverAnswer);
    await drop();
    await page.getByText("Searching…").waitFor();
    expect(await result.locator("> *").count()).toBe(0);
    await page.locator("#cancel-identify").click();
    await page.locator("#identify-status").getByText("Cancelled.").waitFor();
    expect(await result.locator(".who").textContent()).toContain("Ann");
    expect(await page.locator(".identify-frame img").getAttribute("alt")).toBe("Photo portrait-3-1.jpg");

    proxy.setFault(answerWithPage(502, "Bad Gateway"));
    await drop();
    await page.locator("#identify-status").getByText("502 Bad Gateway").waitFor();
    expect(await result.locator("> *").count()).toBe(0);
    proxy.setFault(answerWithPage(413, "Content Too Large"));
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByText("Make the file smaller.").waitFor();
    expect(await page.getByRole("button", { name: "Try again" }).count()).toBe(0);
  });

  test("that cannot be read are offered again, and what was read stays", async () => {
    await enrolVectors("broken", "p1", "Ann", 0);
    const { page, person } = await openGalleries(site.browser, site.service);
    const fail = (path: string) =>
      page.route(path, (route) => route.fulfill({ status: 503, body: "<html>" }), { times: 1 });
    const retry = async (id: string) => {
      await page.locator(`#${id}`).getByText("The service may be restarting. Try again shortly.").waitFor();
      await page.locator(`#${id}`).getByRole("button", { name: "Try again" }).click();
    };
    await page.locator(".gallery-list a").first().waitFor();
    await fail("**/v1/galleries/broken");
    await page.evaluate("location.hash = '#gallery=broken'");
    await fail("**/v1/galleries/broken/people?*");
    await retry("gallery-problem");
    await retry("people-problem");
    await person("Ann").waitFor();
    await fail("**/v1/galleries?*");
    await edit(page, "p1");
    await page.keyboard.type("Anna");
    await page.keyboard.press("Enter");
    await person("Anna").waitFor();
    await page.locator("#list-message").getByText("Try again shortly").waitFor();
    expect(await page.locator(".gallery-list a").count()).toBeGreaterThan(0);
    await retry("list-message");
    await expect.poll(() => page.locator("#list-message").textContent()).toBe("");
  });

  test("are not changed where that is switched off", async () => {
    await enrolVectors("off", "p1", "Ann", 0);
    const { page } = await open("off");
    const off = ["enrol", "delete"];
    await page.route("**/service-info.json", async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: { ...(await response.json()), off } });
    });
    await page.reload();
    await edit(page, "p1");
    const buttons = page.getByRole("dialog").getByRole("button");
    expect(await buttons.allTextContents()).toEqual(["Export…", "Close"]);
  });

  describe("in every size", () => {
    beforeAll(async () => {
      await enrolVectors("sizes", "17", "Maximiliane Featherstonehaugh-Cholmondeley", 0, 1);
      for (let i = 0; i < 60; i++) await enrolVectors("sizes", `p-${i}`, `Person ${i}`, 2 + i);
    });

    test.each(SIZES)("work at %s", async (name, options) => {
      const { page } = await open("sizes", site.service.port, options);
      await checkPage(page, `people-${name}`);
      await edit(page, "17");
      await checkPage(page, `people-edit-${name}`);
      await press(page, "Merge…");
      await page.getByRole("listbox").selectOption({ index: 0 });
      await checkPage(page, `people-merge-${name}`);
      await press(page, "Continue");
      await checkPage(page, `people-confirm-${name}`);
      await page.keyboard.press("Escape");
      await edit(page, "17", "Delete…");
      await checkPage(page, `people-delete-${name}`);
      await page.getByLabel("Search by name or id").waitFor();
    });
  });
});
