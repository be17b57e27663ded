import { once } from "node:events";
import { connect } from "node:net";
import type { ServiceImpl } from "@connectrpc/connect";
import { expect, onTestFinished, test, vi } from "vitest";
import { GalleryService } from "../../gen/ts/visage/v1/gallery_pb.ts";
import { createResponseLines } from "../../src/http/one-way-lines.ts";
import { createDirectTransport } from "../../src/service/direct-transport.ts";
import { startEcho } from "../support/echo-service.ts";

const FACE = { personId: "p", displayName: "x".repeat(10_000) };

/** Serves an export without an end, and counts the exports that have started and ended. */
async function startEndlessExport() {
  const exports = { started: 0, ended: 0 };
  const transport = createDirectTransport(
    GalleryService,
    {
      async *exportGallery() {
        exports.started++;
        try {
          for (;;) {
            await new Promise(setImmediate);
            yield FACE;
          }
        } finally {
          exports.ended++;
        }
      },
    } as Partial<ServiceImpl<typeof GalleryService>> as ServiceImpl<typeof GalleryService>,
    [],
  );
  const { exportGallery } = GalleryService.method;
  const echo = await startEcho({ lines: [createResponseLines(exportGallery, transport, {})] });
  onTestFinished(() => echo.close());
  const open = async () => {
    const socket = connect(echo.port, "127.0.0.1").on("error", () => {});
    socket.write("GET /v1/galleries/g:export HTTP/1.1\r\nHost: a\r\n\r\n");
    await once(socket, "readable");
    return socket;
  };
  return { exports, open };
}

test.each(["reads", "does not read"])("a stream of lines ends if its client %s and leaves", async (kind) => {
  const { exports, open } = await startEndlessExport();
  for (const leave of ["destroy", "resetAndDestroy"] as const) {
    const socket = await open();
    if (kind === "reads") socket.resume();
    expect(exports.started).toBe(exports.ended + 1);
    socket[leave]();
    await vi.waitFor(() => expect(exports.ended).toBe(exports.started), { timeout: 20_000 });
  }
});
