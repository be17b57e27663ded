import { once } from "node:events";
import { connect } from "node:http2";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import type { RunningService } from "../../src/main.ts";
import { photograph } from "../support/images.ts";
import { openSocket, readResponse } from "../support/raw-http.ts";
import { startTestService, USER } from "../support/service.ts";

/** How long a job runs until it is overdue: shortly before its expected end, the estimated wait is below a limit of 1 ms. */
const UNTIL_OVERDUE_MS = 1_000;

let service: RunningService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

test("a request without a user is rejected by its head, before a byte of the body is sent", async () => {
  const socket = await openSocket(service.port);
  socket.write("POST /get_face_vec HTTP/1.1\r\nHost: a\r\nContent-Length: 8000000\r\n\r\n");
  expect(await readResponse(socket)).toMatchObject({ status: 401 });
  socket.destroy();
});

test("a client that sends a large body at once can still read the rejection", async () => {
  const socket = await openSocket(service.port);
  const response = readResponse(socket);
  socket.write("POST /get_face_vec HTTP/1.1\r\nHost: a\r\nContent-Length: 8000000\r\n\r\n");
  socket.write(Buffer.alloc(8_000_000));
  expect(JSON.parse((await response).body)).toMatchObject({ code: "4001" });
  socket.destroy();
});

test("a client that sends a large body over HTTP/2 can still read the rejection", async () => {
  const session = connect(`http://127.0.0.1:${service.port}`);
  const stream = session.request({ ":method": "POST", ":path": "/get_face_vec" });
  const response = once(stream, "response");
  stream.resume().end(Buffer.alloc(8_000_000));
  expect((await response)[0]).toMatchObject({ ":status": 401 });
  await once(stream, "close");
  expect(stream.rstCode).toBe(0);
  session.close();
});

test("a request that would wait too long in the queue is rejected by its head", async () => {
  const full = await startTestService({ VISAGE_MAX_QUEUE_WAIT_MS: "1" });
  const [worker] = full.pool.pids;
  process.kill(worker!, "SIGSTOP");
  onTestFinished(async () => {
    process.kill(worker!, "SIGCONT");
    await full.close();
  });
  const origin = `http://127.0.0.1:${full.port}`;
  const form = new FormData();
  form.append("image_attr", new Blob([new Uint8Array(photograph(1))]), "photo.jpg");
  const served = fetch(`${origin}/get_image_attr`, {
    method: "POST",
    headers: { user_id: USER },
    body: form,
  });
  await expect.poll(() => full.pool.busy).toBe(1);
  await sleep(UNTIL_OVERDUE_MS);
  const socket = await openSocket(full.port);
  socket.write(
    `POST /get_face_vec HTTP/1.1\r\nHost: a\r\nuser_id: ${USER}\r\nContent-Length: 8000000\r\n\r\n`,
  );
  const { status, headers, body } = await readResponse(socket);
  expect({ status, headers }).toMatchObject({ status: 503, headers: { "retry-after": "1" } });
  expect(JSON.parse(body)).toMatchObject({ code: "5001" });
  socket.destroy();
  process.kill(worker!, "SIGCONT");
  expect((await served).status).toBe(200);
});

test("rejections are delayed for a client that retries without backing off, and only for it", async () => {
  const full = await startTestService({ VISAGE_MAX_QUEUE_WAIT_MS: "1" });
  // Each client has a connection of its own.
  const [retrying, other] = [0, 1].map(() => connect(`http://127.0.0.1:${full.port}`));
  const [worker] = full.pool.pids;
  process.kill(worker!, "SIGSTOP");
  const running = full.pool.embed(photograph(1));
  onTestFinished(async () => {
    process.kill(worker!, "SIGCONT");
    await running;
    for (const session of [retrying!, other!]) session.close();
    await full.close();
  });
  await sleep(UNTIL_OVERDUE_MS);
  const startMs = performance.now();
  const statuses: number[] = [];
  const send = async (headers: Record<string, string>, client = retrying!) => {
    const stream = client.request({ ":method": "POST", ":path": "/get_image_attr", ...headers });
    const [{ ":status": status }] = await once(stream.resume().end(), "response");
    statuses.push(status);
  };
  const retries = Array.from({ length: 150 }, () => send({ user_id: USER }));
  await Promise.all([...retries, send({}, other)]);
  expect(statuses.filter((status) => status === 503)).toHaveLength(150);
  expect(performance.now() - startMs).toBeGreaterThan(900);
  expect(statuses.indexOf(401)).toBeLessThan(149);
});
