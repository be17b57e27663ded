import { once } from "node:events";
import { connect } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { LIMITS } from "../../src/http/limits.ts";
import { ERROR_CODE, FLAG, FRAME, headers, parseFrames } from "../../tools/fuzz/edge/http2-frames.ts";
import { http2Opening, http2PostHeaders } from "../support/raw-post.ts";
import { startTestService } from "../support/service.ts";
import { until } from "../support/until.ts";

const CALLS = 4 * LIMITS.streamsPerConnection;

test("a client that opens a stream as soon as another is rejected keeps its connection", async () => {
  const service = await startTestService();
  onTestFinished(() => service.close());
  const socket = connect(service.port, "127.0.0.1");
  onTestFinished(() => {
    socket.destroy();
  });
  await once(socket, "connect");
  const call = http2PostHeaders({
    path: "/face.v1.FaceService/GetFaceVec",
    type: "application/grpc",
    user: "nobody",
  });
  let opened = 0;
  // As grpc-go does, the client never ends a stream whose response has arrived before the request was sent.
  const openStream = () => {
    if (opened < CALLS) socket.write(headers(2 * opened++ + 1, call));
  };
  const rejected = new Set<number>();
  const resets: number[] = [];
  const goAways: number[] = [];
  let received = Buffer.alloc(0);
  socket.on("data", (bytes) => {
    received = Buffer.concat([received, bytes]);
    for (const { type, flags, stream, payload } of parseFrames(received)) {
      received = received.subarray(9 + payload.length);
      if (type === FRAME.goAway) goAways.push(payload.readUInt32BE(4));
      else if (type === FRAME.rstStream) resets.push(payload.readUInt32BE(0));
      else if (type === FRAME.headers && flags & FLAG.endStream) {
        rejected.add(stream);
        openStream();
      }
    }
  });
  socket.write(http2Opening());
  for (let i = 0; i < LIMITS.streamsPerConnection; i++) openStream();
  await until(() => goAways.length + Number(resets.length === CALLS), Boolean, 10_000);
  expect(goAways).toEqual([]);
  expect(rejected.size).toBe(CALLS);
  expect(new Set(resets)).toEqual(new Set([ERROR_CODE.noError]));
});
