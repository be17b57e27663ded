import { once } from "node:events";
import { type ClientHttp2Session, connect } from "node:http2";
import { text } from "node:stream/consumers";
import { createRouterTransport } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Echo, startEcho } from "../support/echo-service.ts";
import { openSocket, postBytes, readResponse, sendRaw } from "../support/raw-http.ts";

let echo: Echo;
beforeAll(async () => {
  echo = await startEcho();
});
afterAll(() => echo.close());

function ask(verb: string, target: string, headers: readonly string[] = [], port = echo.port) {
  const lines = [`${verb} ${target} HTTP/1.1`, "Host: test", "Connection: close", ...headers, "", ""];
  return sendRaw(port, Buffer.from(lines.join("\r\n")));
}

describe("routing", () => {
  test.each(["/", "/match_faces/", "/matchfaces", "/face.v1.FaceService/MatchFaces", "*"])(
    "%s is not a path",
    async (path) => {
      const answer = await ask("POST", path);
      expect(answer.status).toBe(404);
      expect(answer.headers["content-type"]).toBe("application/json");
      expect(JSON.parse(answer.body)).toMatchObject({ code: "4040" });
    },
  );

  test.each(["GET", "PUT", "DELETE", "PATCH"])("%s is rejected, with the allowed methods", async (verb) => {
    const answer = await ask(verb, "/match_faces?x=1");
    expect(answer.status).toBe(405);
    expect(answer.headers.allow).toBe("POST, OPTIONS");
    expect(JSON.parse(answer.body)).toMatchObject({ code: "4050" });
  });

  test("HEAD is rejected like GET, without a body", async () => {
    const lines = "HEAD /match_faces HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n";
    const socket = await openSocket(echo.port);
    socket.write(lines);
    let seen = "";
    for await (const chunk of socket) seen += chunk;
    expect(seen).toMatch(/^HTTP\/1.1 405 /);
    expect(seen).toMatch(/content-length: [1-9]/);
    expect(seen.endsWith("\r\n\r\n")).toBe(true);
  });
});

describe("responses", () => {
  test("are compact JSON of known length, with the method's headers and trailers", async () => {
    const answer = await sendRaw(echo.port, postBytes("/match_faces", [], ""));
    expect(answer.status).toBe(200);
    expect(answer.headers).toMatchObject({
      "content-type": "application/json",
      "content-length": String(answer.body.length),
      "x-request-id": "id-1",
      "x-visage-model": "m1",
    });
    for (const name of ["keep-alive", "grpc-status"]) expect(answer.headers).not.toHaveProperty(name);
    expect(answer.body).toBe(
      '{"status":"none none","code":"none none","success":false,' +
        '"message":"face_det undefined detail false","data":{"score":"0.0000","status":""}}',
    );
  });

  test("have the entries of a flattened map in its place, in order, and keep zeros", async () => {
    const { body } = await sendRaw(echo.port, postBytes("/get_image_attr", [], ""));
    const { attributes } = JSON.parse(body).data;
    expect(Object.keys(attributes)).toEqual(["face_id_0", "face_id_1", "image_size"]);
    expect(attributes.image_size).toEqual([4, 3]);
    expect(attributes.face_id_0).toEqual({
      age: "20-40",
      face_rectangle: [],
      gender: "",
      gender_confidence: 0,
      landmarks: { faceLandMark: { chin: { x: 0, y: 7 } } },
    });
  });

  test("to errors carry their metadata", async () => {
    const answer = await sendRaw(echo.port, postBytes("/match_faces", ["User_id: nobody"], ""));
    expect(answer.status).toBe(401);
    expect(answer.headers).toMatchObject({ "x-request-id": "id-2", "content-type": "application/json" });
    expect(answer.headers["content-length"]).toBe(String(answer.body.length));
  });

  test("to internal errors hide the cause, which is logged", async () => {
    const transport = createRouterTransport(() => {});
    transport.unary = () => Promise.reject(new TypeError("secret"));
    const broken = await startEcho({ transport });
    const answer = await sendRaw(broken.port, postBytes("/match_faces", [], ""));
    expect(answer.status).toBe(500);
    expect(answer.body).not.toContain("secret");
    expect(broken.errors).toMatchObject([{ cause: expect.stringContaining("secret") }]);
    await broken.close();
  });
});

test("the method sees the caller's headers, except those of the connection and the body", async () => {
  const headers = [
    "User_id: u1",
    "user_key: k",
    "X-A: 1",
    "X-A: 2",
    "X-Hop: 1",
    "Accept-Encoding: gzip",
    "TE: trailers",
  ];
  const lines = [
    "POST /match_faces HTTP/1.1",
    "Host: test",
    "Connection: close, X-Hop",
    "Content-Length: 0",
    ...headers,
  ];
  const answer = await sendRaw(echo.port, Buffer.from(`${lines.join("\r\n")}\r\n\r\n`));
  expect(answer.status).toBe(200);
  const seen = Object.fromEntries(echo.calls.at(-1)!.requestHeader);
  expect(seen).toMatchObject({ user_id: "u1", user_key: "k", "x-a": "1, 2" });
  for (const name of ["host", "connection", "te", "x-hop", "accept-encoding"])
    expect(seen).not.toHaveProperty(name);
});

describe("CORS", () => {
  const origin = "Origin: https://page.test";
  const preflight = [
    origin,
    "Access-Control-Request-Method: POST",
    "Access-Control-Request-Headers: user_id",
  ];

  test("answers a preflight", async () => {
    const answer = await ask("OPTIONS", "/match_faces", preflight);
    expect(answer).toMatchObject({ status: 204, body: "" });
    expect(answer.headers).toMatchObject({
      "access-control-allow-origin": "*",
      "access-control-allow-methods": "POST",
      "access-control-allow-headers": expect.stringContaining("user_id, user_key, content-type"),
    });
  });

  test("headers are on every response to a request with an origin, and on no other", async () => {
    const open = {
      "access-control-allow-origin": "*",
      "access-control-expose-headers": expect.stringContaining("x-request-id"),
    };
    expect((await sendRaw(echo.port, postBytes("/match_faces", [origin], ""))).headers).toMatchObject(open);
    expect((await ask("POST", "/nowhere", [origin])).headers).toMatchObject(open);
    const { headers } = await ask("POST", "/nowhere");
    expect(Object.keys(headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
  });

  test("allows a listed origin, and no other", async () => {
    const listed = await startEcho({ corsOrigins: ["https://page.test"] });
    const known = await ask("OPTIONS", "/match_faces", preflight, listed.port);
    expect(known.headers).toMatchObject({
      "access-control-allow-origin": "https://page.test",
      vary: "Origin",
    });
    const other = await ask("OPTIONS", "/match_faces", ["Origin: https://other.test"], listed.port);
    expect(other.status).toBe(204);
    expect(other.headers).not.toHaveProperty("access-control-allow-origin");
    expect(other.headers).toMatchObject({ vary: "Origin" });
    await listed.close();
  });
});

test("a caller who disconnects aborts the method, and no error is logged", async () => {
  const [calls, faults] = [echo.calls.length, echo.errors.length];
  const socket = await openSocket(echo.port);
  socket.write(postBytes("/match_faces", ["user_id: slow"], ""));
  await expect.poll(() => echo.calls.length).toBe(calls + 1);
  const { signal } = echo.calls.at(-1)!;
  expect(signal.aborted).toBe(false);
  socket.destroy();
  await expect.poll(() => signal.aborted).toBe(true);
  await expect.poll(() => echo.inFlight()).toBe(0);
  expect(echo.errors.length).toBe(faults);
});

test("a call that exceeds its timeout is aborted and answered with 504", async () => {
  const transport = createRouterTransport(() => {});
  transport.unary = (_, signal, timeoutMs) =>
    new Promise((_resolve, reject) => {
      expect(timeoutMs).toBe(50);
      signal!.addEventListener("abort", () => reject(signal!.reason));
    });
  const slow = await startEcho({ transport, timeoutMs: 50 });
  expect((await sendRaw(slow.port, postBytes("/match_faces", [], ""))).status).toBe(504);
  await slow.close();
});

test("a caller who disconnects in the middle of the body causes no error", async () => {
  const faults = echo.errors.length;
  const socket = await openSocket(echo.port);
  socket.write("POST /match_faces HTTP/1.1\r\nHost: test\r\nContent-Length: 100\r\n\r\nimg_1=");
  await expect.poll(() => echo.inFlight()).toBe(1);
  socket.destroy();
  await expect.poll(() => echo.inFlight()).toBe(0);
  expect(echo.errors.length).toBe(faults);
});

describe("HTTP/2", () => {
  let client: ClientHttp2Session;
  beforeAll(() => {
    client = connect(`http://127.0.0.1:${echo.port}`);
  });
  afterAll(() => client.destroy());

  test("is served like HTTP/1.1", async () => {
    const stream = client.request({
      ":method": "POST",
      ":path": "/get_face_vec?quality=1",
      origin: "https://a.test",
    });
    stream.end('{"img":"http://a/"}');
    const [headers] = await once(stream, "response");
    expect(headers).toMatchObject({ ":status": 200, "access-control-allow-origin": "*" });
    expect(JSON.parse(await text(stream))).toMatchObject({ status: "http://a/", message: "quality true" });
  });

  test.each([{}, { "content-length": "300000" }])(
    "a body beyond the limit is rejected and discarded, with %j",
    async (length) => {
      const stream = client.request({ ":method": "POST", ":path": "/get_face_vec", ...length });
      stream.end(Buffer.alloc(300_000));
      const [headers] = await once(stream, "response");
      expect(headers).toMatchObject({ ":status": 413 });
      expect(JSON.parse(await text(stream))).toMatchObject({ code: "2010" });
      if (!stream.closed) await once(stream, "close");
    },
    3000,
  );

  test("a caller who disconnects in the middle of the body causes no error", async () => {
    const [calls, faults] = [echo.calls.length, echo.errors.length];
    const leaving = connect(`http://127.0.0.1:${echo.port}`);
    const stream = leaving.request({ ":method": "POST", ":path": "/match_faces" });
    stream.on("error", () => {}).write("img_1=");
    await expect.poll(() => echo.inFlight()).toBe(1);
    // Closing the stream would end the body first.
    leaving.destroy();
    await expect.poll(() => echo.inFlight()).toBe(0);
    expect([echo.calls.length, echo.errors.length]).toEqual([calls, faults]);
  });
});

test("connections are kept open for the next request", async () => {
  const socket = await openSocket(echo.port);
  for (const path of ["/nowhere", "/match_faces"]) {
    socket.write(`POST ${path} HTTP/1.1\r\nHost: test\r\nContent-Length: 2\r\n\r\n{}`);
    expect((await readResponse(socket)).status).toBe(path === "/nowhere" ? 404 : 200);
    socket.removeAllListeners("data");
  }
  socket.destroy();
});
