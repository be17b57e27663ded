import { create } from "@bufbuild/protobuf";
import { anyPack } from "@bufbuild/protobuf/wkt";
import { expect, test } from "vitest";
import { ErrorInfoSchema } from "../../gen/ts/google/rpc/error_details_pb.ts";
import { AnalyzeImagesResponseSchema } from "../../gen/ts/visage/v1/face_analysis_pb.ts";
import { ImageStream } from "../../src/client/image-stream.ts";
import type { OpenStream } from "../../src/client/stream-attempt.ts";

const LIMITS = { timeoutMs: 10_000, retries: 4, maxInFlight: 8 };

function answer(key: string) {
  return create(AnalyzeImagesResponseSchema, { key, result: { case: "response", value: {} } });
}

function rejection(key: string, reason: string) {
  const metadata = { code: "5001", retryable: "true" };
  const details = [anyPack(ErrorInfoSchema, create(ErrorInfoSchema, { reason, metadata }))];
  return create(AnalyzeImagesResponseSchema, {
    key,
    result: { case: "error", value: { code: 14, details } },
  });
}

/** A service that rejects the second image of its first stream and answers everything else. */
function rejectOnce() {
  const streams: string[][] = [];
  const open: OpenStream = async function* (requests) {
    const keys: string[] = [];
    streams.push(keys);
    for await (const { key = "" } of requests) {
      keys.push(key);
      yield streams.length === 1 && keys.length === 2 ? rejection(key, "OVERLOADED") : answer(key);
    }
  };
  return { open, streams };
}

async function analyze(open: OpenStream, shouldResend?: () => boolean) {
  const delays: string[] = [];
  const stream = new ImageStream<number>({
    items: [0, 1, 2, 3],
    prepare: async () => ({}),
    open,
    limits: LIMITS,
    retry: { succeed: () => {}, delayAfter: ({ reason }) => delays.push(reason) && 1 },
    ...(shouldResend && { shouldResend }),
    signal: new AbortController().signal,
  });
  const outcomes: (readonly [number, string])[] = [];
  for await (const { item, outcome } of stream.results())
    outcomes.push([item, "error" in outcome ? outcome.error.reason : "ok"]);
  return { outcomes: outcomes.toSorted(), delays };
}

test("a rejected image has an error, and the stream goes on", async () => {
  const { open, streams } = rejectOnce();
  const { outcomes, delays } = await analyze(open);
  expect(outcomes).toEqual([
    [0, "ok"],
    [1, "OVERLOADED"],
    [2, "ok"],
    [3, "ok"],
  ]);
  expect([streams, delays]).toEqual([[["0", "1", "2", "3"]], []]);
});

test("a rejected image that must be sent again is sent on a new stream, after a delay", async () => {
  const { open, streams } = rejectOnce();
  const { outcomes, delays } = await analyze(open, () => true);
  expect(outcomes.map(([, outcome]) => outcome)).toEqual(["ok", "ok", "ok", "ok"]);
  expect(delays).toEqual(["OVERLOADED"]);
  expect(streams).toHaveLength(2);
  expect(streams[1]).toContain("1");
  expect(streams[1]).not.toContain("0");
});
