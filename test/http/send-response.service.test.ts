import { once } from "node:events";
import { connect, createServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import { sendResponse } from "../../src/http/send-response.ts";

// Node drops the RST_STREAM of a closed stream whose response is not written yet, if the session ends meanwhile. With
// another open stream, nghttp2 then writes empty frames until the memory is used up.
test.each([
  ["a body", { body: "too early" }],
  ["trailers", { body: "too early", trailers: { "grpc-status": "3" } }],
])(
  "a session may end before a response with %s to an unfinished request is written",
  async (_name, content) => {
    let isOpen = false;
    let isClosed: boolean | undefined;
    const server = createServer((request, response) => {
      if (request.url === "/open") {
        isOpen = true;
        return;
      }
      sendResponse({ request, response, isDraining: false }, { status: 401, headers: {}, ...content });
      isClosed = response.stream.closed;
      // If the stream were closed, this would never return.
      if (!isClosed) response.stream.session!.destroy();
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const client = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    onTestFinished(() => {
      client.destroy();
      server.close();
    });
    const send = (path: string) => client.request({ ":method": "POST", ":path": path }).on("error", () => {});
    send("/open").write("half a body");
    await vi.waitFor(() => expect(isOpen).toBe(true));
    const ended = once(client, "close");
    send("/rejected").write("half a body");
    await vi.waitFor(() => expect(isClosed).toBe(false));
    await ended;
  },
);
