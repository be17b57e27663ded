import { gzipSync } from "node:zlib";
import { create, toBinary } from "@bufbuild/protobuf";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import { expect, test } from "vitest";
import { GetFaceVecRequestSchema } from "../../gen/ts/face/v1/face_pb.ts";
import { ByteBudget } from "../../src/http/byte-budget.ts";
import { prepareMessage } from "../../src/http/rpc-message.ts";

const { signal } = new AbortController();

test("a compressed message is charged with both of its sizes until its request ends", async () => {
  const content = new Uint8Array(1_000_000);
  const message = toBinary(
    GetFaceVecRequestSchema,
    create(GetFaceVecRequestSchema, { img: { source: { case: "content", value: content } } }),
  );
  const bytes = Buffer.from(encodeEnvelope(1, gzipSync(message)));
  const budget = new ByteBudget({ totalBytes: message.length + bytes.length, maxWaitMs: 10_000 });
  const lease = budget.open("a");
  expect(lease.charge(bytes.length, signal)).toBe(true);
  const header = new Headers({ "grpc-encoding": "gzip" });

  const prepared = prepareMessage(
    { protocol: "grpc", signal },
    GetFaceVecRequestSchema,
    { bytes, lease },
    header,
    2_000_000,
  );
  expect(Buffer.compare((await prepared).body, encodeEnvelope(0, message))).toBe(0);
  expect(budget.usedBytes).toBe(message.length + bytes.length);

  lease.release();
  expect(budget.usedBytes).toBe(0);
});
