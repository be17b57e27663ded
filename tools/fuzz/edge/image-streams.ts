// Bodies of the stream AnalyzeImages: valid messages and lines between malformed ones.
import { gzipSync } from "node:zlib";
import { create, toBinary } from "@bufbuild/protobuf";
import { AnalyzeImagesRequestSchema } from "../../../gen/ts/visage/v1/face_analysis_pb.ts";
import type { Random } from "../../support/random.ts";
import { mutate } from "../mutate.ts";
import { envelope } from "./http2-frames.ts";

export const STREAM_RPC_PATH = "/visage.v1.FaceAnalysisService/AnalyzeImages";
export const STREAM_LINES_PATH = "/v1/images:analyzeStream";

const MAX_MESSAGES = 6;

/** The messages of a stream of RPCs in their envelopes; about half of them are valid. */
export function streamMessages(random: Random, photo: Buffer): Buffer {
  const message = Buffer.from(
    toBinary(
      AnalyzeImagesRequestSchema,
      create(AnalyzeImagesRequestSchema, {
        key: "k",
        request: { image: { source: { case: "content", value: photo } } },
      }),
    ),
  );
  const valid = envelope(message);
  const one = () =>
    random.pick<() => Buffer>([
      () => valid,
      () => valid,
      () => valid,
      () => envelope(Buffer.alloc(0)),
      () => Buffer.alloc(5 * random.below(3_000)),
      () => envelope(gzipSync(message), 1),
      () => envelope(message, random.below(256)),
      () =>
        envelope(message, 0, random.pick([message.length - 1, message.length + 1, 0x7fffffff, 0xffffffff])),
      () =>
        envelope(
          mutate(message, random, {
            dictionary: [Buffer.of(0xff, 0xff, 0xff, 0xff, 0x0f)],
            corpus: [message],
          }),
        ),
      () => valid.subarray(0, random.below(valid.length)),
    ])();
  return Buffer.concat(Array.from({ length: 1 + random.below(MAX_MESSAGES) }, one));
}

/** The lines of a stream; about half of them are valid. */
export function streamLines(random: Random, photo: Buffer): Buffer {
  const valid = Buffer.from(
    `${JSON.stringify({ key: "k", request: { image: photo.toString("base64") } })}\n`,
  );
  const text = (line: string) => Buffer.from(line, "latin1");
  const one = () =>
    random.pick<() => Buffer>([
      () => valid,
      () => valid,
      () => valid,
      () => text("\n".repeat(1 + random.below(10_000))),
      () => text("[\n".repeat(1 + random.below(1_000))),
      () => text(`${"[".repeat(1 + random.below(50_000))}\n`),
      () => text('\xff\xfe\n{"key":"\xff"}\n'),
      () => text(random.pick(["null\n", "{}\n", '{"request":{}}\n', '{"key":1}\n', "\0\n", "\r\n", '"\n'])),
      () => mutate(valid, random, { dictionary: [Buffer.from("\n")], corpus: [valid] }),
      () => valid.subarray(0, random.below(valid.length)),
    ])();
  return Buffer.concat(Array.from({ length: 1 + random.below(MAX_MESSAGES) }, one));
}
