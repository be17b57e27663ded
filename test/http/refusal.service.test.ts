import { once } from "node:events";
import { connect } from "node:http2";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import type { RunningService } from "../../src/main.ts";
import { photograph } from "../support/images.ts";
import { openSocket, readAnswer } from "../support/raw-http.ts";
import { startTestService, USER } from "../support/service.ts";

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

test("a user whose request would wait too long is refused at the headers too", async () => {
  const full = await startTestService({ VISAGE_MAX_QUEUE_WAIT_MS: "1" });
  onTestFinished(() => full.close());
  const origin = `http://127.0.0.1:${full.port}`;
  const form = new FormData();
  form.append("image_attr", new Blob([new Uint8Array(photograph(1))]), "photo.jpg");
  const served = fetch(`${origin}/get_image_attr`, {
    method: "POST",
    headers: { user_id: USER },
    body: form,
  });
  await vi.waitFor(() => expect(full.pool.busy).toBe(1), { interval: 1 });
  const socket = await openSocket(full.port);
  socket.write(
    `POST /get_face_vec HTTP/1.1\r\nHost: a\r\nuser_id: ${USER}\r\nContent-Length: 8000000\r\n\r\n`,
  );
  const { status, headers, body } = await readAnswer(socket);
  expect({ status, headers }).toMatchObject({ status: 503, headers: { "retry-after": "1" } });
  expect(JSON.parse(body)).toMatchObject({ code: "5001" });
  socket.destroy();
  expect((await served).status).toBe(200);
});

test("a user who asks again and again in an overload is kept waiting for its answers, and others are not", async () => {
  const full = await startTestService({ VISAGE_MAX_QUEUE_WAIT_MS: "1" });
  // Each client has a connection of its own.
  const [session, other] = [0, 1].map(() => connect(`http://127.0.0.1:${full.port}`));
  const [worker] = full.pool.pids;
  process.kill(worker!, "SIGSTOP");
  const working = full.pool.embed(photograph(1));
  onTestFinished(async () => {
    process.kill(worker!, "SIGCONT");
    await working;
    for (const each of [session!, other!]) each.close();
    await full.close();
  });
  // Long overdue: just before its expected end, a job counts as one that is over within the limit of 1 ms.
  await sleep(1_000);
  const order: number[] = [];
  const ask = async (headers: Record<string, string>, client = session!) => {
    const stream = client.request({ ":method": "POST", ":path": "/get_image_attr", ...headers });
    const [{ ":status": status }] = await once(stream.resume(), "response");
    order.push(status);
  };
  const impatient = Array.from({ length: 150 }, () => ask({ user_id: USER }));
  await Promise.all([...impatient, ask({}, other)]);
  expect(order.filter((status) => status === 503)).toHaveLength(150);
  expect(order.indexOf(401)).toBeLessThan(149);
});
