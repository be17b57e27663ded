import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Echo, MAX_REQUEST_BYTES, startEcho } from "../support/echo-service.ts";
import { openSocket, postBytes, readResponse, sendRaw } from "../support/raw-http.ts";

let echo: Echo;
beforeAll(async () => {
  echo = await startEcho();
});
afterAll(() => echo.close());

const CHUNKED = "POST /get_face_vec HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n";

function chunk(content: string): string {
  return `${content.length.toString(16)}\r\n${content}\r\n`;
}

/** Makes a form of this size with an image URL. */
function createForm(bytes: number): string {
  return "img=http://a/".padEnd(bytes, "x");
}

describe("the size of a body", () => {
  test("may be exactly the limit", async () => {
    const answer = await sendRaw(echo.port, postBytes("/get_face_vec", [], createForm(MAX_REQUEST_BYTES)));
    expect(answer.status).toBe(200);
  });

  test("is rejected by the announced length alone, before a byte is sent", async () => {
    const head = `POST /get_face_vec HTTP/1.1\r\nHost: test\r\nContent-Length: ${MAX_REQUEST_BYTES + 1}\r\n\r\n`;
    const answer = await sendRaw(echo.port, Buffer.from(head));
    expect(answer.status).toBe(413);
    expect(JSON.parse(answer.body)).toMatchObject({ code: "2010" });
  });

  test("is counted for chunked bodies", async () => {
    const socket = await openSocket(echo.port);
    socket.write(`${CHUNKED}${chunk("img=http")}${chunk("://a/b")}0\r\n\r\n`);
    const answer = await readResponse(socket);
    expect(JSON.parse(answer.body)).toMatchObject({ status: "http://a/b" });
    socket.destroy();
  });

  test("is rejected as soon as a chunked body exceeds the limit, while the client is still sending", async () => {
    const socket = await openSocket(echo.port);
    socket.write(CHUNKED + chunk(createForm(MAX_REQUEST_BYTES)));
    const early = await Promise.race([
      readResponse(socket),
      new Promise((resolve) => setTimeout(resolve, 100, "none")),
    ]);
    expect(early).toBe("none");
    socket.write(chunk("x"));
    expect((await readResponse(socket)).status).toBe(413);
    socket.destroy();
  });

  test("far beyond the limit still lets a client that sends it all read the response", async () => {
    const socket = await openSocket(echo.port);
    const answer = readResponse(socket);
    const body = Buffer.alloc(20 * 1024 * 1024, "x");
    socket.write(postBytes("/get_face_vec", [], body).toString().replace("Connection: close\r\n", ""));
    expect((await answer).status).toBe(413);
    socket.destroy();
  });
});

test("a client that never stops sending is disconnected", async () => {
  const socket = await openSocket(echo.port);
  socket.write(CHUNKED + chunk(createForm(MAX_REQUEST_BYTES + 1)));
  expect((await readResponse(socket)).status).toBe(413);
  const sending = setInterval(() => socket.write(chunk("x")), 100);
  await once(socket, "close");
  clearInterval(sending);
});

test("Expect: 100-continue is answered before the body", async () => {
  const socket = await openSocket(echo.port);
  const head =
    "POST /get_face_vec HTTP/1.1\r\nHost: test\r\nExpect: 100-continue\r\nContent-Length: 14\r\n\r\n";
  socket.write(head);
  const [first] = await once(socket, "data");
  expect(String(first)).toMatch(/^HTTP\/1.1 100 Continue\r\n\r\n$/);
  const answer = readResponse(socket);
  socket.write("img=http://a/b");
  expect(JSON.parse((await answer).body)).toMatchObject({ status: "http://a/b" });
  socket.destroy();
});
