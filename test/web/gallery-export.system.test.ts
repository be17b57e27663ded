import { EventEmitter, once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { hasBrowser } from "../support/browser.ts";
import { createGalleryClient, MODEL, testPeople } from "../support/galleries.ts";
import { openGalleries } from "../support/galleries-page.ts";
import { USER } from "../support/service.ts";
import { useSite } from "../support/site.ts";

/** More than the buffers between service and browser hold, so that an export can stand still in the middle. */
const FACES = 8000;

describe.runIf(hasBrowser)("the export of a large gallery", () => {
  const site = useSite();

  /** Creates a gallery and opens it through a proxy that stops each export after its first bytes. */
  const openExport = async (galleryId: string) => {
    const client = createGalleryClient(site.service, USER);
    await client.createGallery({ galleryId });
    const lines = testPeople(FACES, 1).map(({ personId, faceId, values }) =>
      JSON.stringify({ personId, faceId, embedding: { values, model: MODEL } }),
    );
    const imported = await fetch(site.url(`/v1/galleries/${galleryId}:import`), {
      method: "POST",
      headers: { "x-api-key": USER, "content-type": "application/x-ndjson" },
      body: `${lines.join("\n")}\n`,
    });
    expect(await imported.json()).toMatchObject({ faceCount: FACES });
    const proxy = await startPausingProxy(site.service.port);
    const { page } = await openGalleries(site.browser, proxy);
    await page.evaluate(`location.hash = "#gallery=${galleryId}"`);
    const button = page.getByRole("button", { name: "Export", exact: true });
    await button.click();
    await page.getByText("Exporting…").waitFor();
    await proxy.paused;
    expect(await page.locator("#transfer-progress").isVisible()).toBe(true);
    return { client, page, proxy, button };
  };

  test("saves all faces", async () => {
    const { page, proxy } = await openExport("whole");
    const download = page.waitForEvent("download");
    proxy.resume();
    const lines = (await readFile(await (await download).path(), "utf8")).trimEnd().split("\n");
    expect(lines.length).toBe(FACES);
    expect(new Set(lines.map((line) => (JSON.parse(line) as { personId: string }).personId)).size).toBe(
      FACES,
    );
    await page.getByText(`${FACES.toLocaleString("en")} faces exported.`).waitFor();
    expect(await page.locator("#transfer-progress").isVisible()).toBe(false);
  }, 180_000);

  test("ends when it is cancelled, in the page and on the connection", async () => {
    const { page, proxy, button } = await openExport("cancelled");
    let downloads = 0;
    page.on("download", () => downloads++);
    await page.locator("#cancel-transfer").click();
    await page.getByText("Cancelled.").waitFor();
    await proxy.closed;
    expect(await button.isEnabled()).toBe(true);
    expect(downloads).toBe(0);
  }, 180_000);

  test("saves nothing if the gallery is deleted meanwhile", async () => {
    const { client, page, proxy } = await openExport("deleted");
    let downloads = 0;
    page.on("download", () => downloads++);
    await client.deleteGallery({ galleryId: "deleted" });
    proxy.resume();
    await page.locator("#gallery-problem").getByText("deleted").waitFor();
    expect(downloads).toBe(0);
  }, 180_000);
});

/** Starts a proxy that passes everything on, but stops an export after its first bytes until `resume` is called. */
async function startPausingProxy(port: number) {
  const events = new EventEmitter();
  const paused = once(events, "paused");
  const closed = once(events, "closed");
  let resume = () => {};
  const server = createServer((incoming, response) => {
    const { method, url = "", headers } = incoming;
    const outgoing = request({ host: "127.0.0.1", port, method, path: url, headers }, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers);
      if (!url.endsWith(":export")) return answer.pipe(response);
      response.on("close", () => {
        answer.destroy();
        events.emit("closed");
      });
      answer.once("data", (chunk: Buffer) => {
        answer.pause();
        response.write(chunk);
        resume = () => answer.pipe(response);
        events.emit("paused");
      });
    });
    outgoing.on("error", () => response.destroy());
    incoming.pipe(outgoing);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return {
    port: (server.address() as AddressInfo).port,
    paused,
    closed,
    resume: () => resume(),
  };
}
