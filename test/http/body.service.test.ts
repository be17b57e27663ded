import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type Echo,
  MAX_REQUEST_BYTES,
  openSocket,
  postBytes,
  readAnswer,
  sendRaw,
  startEcho,
} from "../support/raw-http.ts";

let echo: Echo;
beforeAll(async () => {
  echo = await startEcho();
});
afterAll(() => echo.close());

const CHUNKED = "POST /get_face_vec HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n";

function chunk(content: string): string {
  return `${content.length.toString(16)}\r\n${content}\r\n`;
}

/** A form of so many bytes that names a URL. */
function formOf(bytes: number): string {
  return "img=http://a/".padEnd(bytes, "x");
}

describe("the length of a body", () => {
  test("may be exactly the limit", async () => {
    const answer = await sendRaw(echo.port, postBytes("/get_face_vec", [], formOf(MAX_REQUEST_BYTES)));
    expect(answer.status).toBe(200);
  });

  test("is refused by its announcement alone, before a byte of it is sent", async () => {
    const head = `POST /get_face_vec HTTP/1.1\r\nHost: test\r\nContent-Length: ${MAX_REQUEST_BYTES + 1}\r\n\r\n`;
    const answer = await sendRaw(echo.port, Buffer.from(head));
    expect(answer.status).toBe(413);
    expect(JSON.parse(answer.body)).toMatchObject({ code: "2010" });
  });

  test("is counted in chunks", async () => {
    const socket = await openSocket(echo.port);
    socket.write(`${CHUNKED}${chunk("img=http")}${chunk("://a/b")}0\r\n\r\n`);
    const answer = await readAnswer(socket);
    expect(JSON.parse(answer.body)).toMatchObject({ status: "http://a/b" });
    socket.destroy();
  });

  test("is refused in chunks as soon as it passes the limit, while the caller is still sending", async () => {
    const socket = await openSocket(echo.port);
    socket.write(CHUNKED + chunk(formOf(MAX_REQUEST_BYTES)));
    const early = await Promise.race([
      readAnswer(socket),
      new Promise((resolve) => setTimeout(resolve, 100, "none")),
    ]);
    expect(early).toBe("none");
    socket.write(chunk("x"));
    expect((await readAnswer(socket)).status).toBe(413);
    socket.destroy();
  });

  test("far beyond the limit still lets a caller who sends it all read the answer", async () => {
    const socket = await openSocket(echo.port);
    const answer = readAnswer(socket);
    const body = Buffer.alloc(20 * 1024 * 1024, "x");
    socket.write(postBytes("/get_face_vec", [], body).toString().replace("Connection: close\r\n", ""));
    expect((await answer).status).toBe(413);
    socket.destroy();
  });
});

test("a caller who never stops sending is cut off", async () => {
  const socket = await openSocket(echo.port);
  socket.write(CHUNKED + chunk(formOf(MAX_REQUEST_BYTES + 1)));
  expect((await readAnswer(socket)).status).toBe(413);
  const dripping = setInterval(() => socket.write(chunk("x")), 100);
  await once(socket, "close");
  clearInterval(dripping);
}, 10_000);

test("Expect: 100-continue is answered before the body", async () => {
  const socket = await openSocket(echo.port);
  const head =
    "POST /get_face_vec HTTP/1.1\r\nHost: test\r\nExpect: 100-continue\r\nContent-Length: 14\r\n\r\n";
  socket.write(head);
  const [first] = await once(socket, "data");
  expect(String(first)).toMatch(/^HTTP\/1.1 100 Continue\r\n\r\n$/);
  const answer = readAnswer(socket);
  socket.write("img=http://a/b");
  expect(JSON.parse((await answer).body)).toMatchObject({ status: "http://a/b" });
  socket.destroy();
});
