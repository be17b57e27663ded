import { once } from "node:events";
import { connect } from "node:http2";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { RunningService } from "../../src/main.ts";
import { openSocket, readAnswer } from "../support/raw-http.ts";
import { startTestService } from "../support/service.ts";

let service: RunningService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

test("a stranger is refused at the headers, before a byte of the body is sent", async () => {
  const socket = await openSocket(service.port);
  socket.write("POST /get_face_vec HTTP/1.1\r\nHost: a\r\nContent-Length: 8000000\r\n\r\n");
  expect(await readAnswer(socket)).toMatchObject({ status: 401 });
  socket.destroy();
});

test("a stranger who sends a large body first still reads why it was refused", async () => {
  const socket = await openSocket(service.port);
  const answer = readAnswer(socket);
  socket.write("POST /get_face_vec HTTP/1.1\r\nHost: a\r\nContent-Length: 8000000\r\n\r\n");
  socket.write(Buffer.alloc(8_000_000));
  expect(JSON.parse((await answer).body)).toMatchObject({ code: "4001" });
  socket.destroy();
});

test("a stranger over HTTP/2 too", async () => {
  const session = connect(`http://127.0.0.1:${service.port}`);
  const stream = session.request({ ":method": "POST", ":path": "/get_face_vec" });
  const answer = once(stream, "response");
  stream.resume().end(Buffer.alloc(8_000_000));
  expect((await answer)[0]).toMatchObject({ ":status": 401 });
  await once(stream, "close");
  expect(stream.rstCode).toBe(0);
  session.close();
});
