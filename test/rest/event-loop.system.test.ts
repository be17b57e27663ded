import { fromBinary } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { GetFaceVecRequestSchema, GetImageAttrRequestSchema } from "../../gen/ts/face/v1/face_pb.ts";
import { checkProtobuf } from "../../src/http/protobuf-scan.ts";
import { parseBody } from "../../src/rest/body.ts";
import { parseForm } from "../../src/rest/form.ts";
import { binaryFromJson } from "../../src/rest/json-message.ts";
import { createMessageReader } from "../../src/rest/message-reader.ts";
import { RestError } from "../../src/rest/rest-error.ts";
import { ServiceError } from "../../src/service/service-error.ts";
import { TEXT_PARSERS } from "../../src/service/text-parsers.ts";
import {
  FORM_BODIES,
  IMAGE_TEXTS,
  JSON_BODIES,
  JSON_MESSAGES,
  MULTIPART_BODIES,
  PROTOBUF_BODIES,
  type SampleBodies,
  type SampleBody,
} from "../support/hostile-bodies.ts";

const MAX_BODY_BYTES = 32 * 1024 * 1024;
/** The limit on the head of a request. */
const MAX_QUERY_BYTES = 16 * 1024;
/** A hostile body may block the event loop for as long as the worst legitimate body, times this. */
const MAX_RATIO = 3;
/** Shorter delays are noise. */
const FLOOR_MS = 50;
const MAX_BLOCKED_MS = 100;
/** The fastest of these runs counts, because other processes slow some of them down. */
const RUNS = 5;
/** Beyond this, noise is not the reason, and another run would not help. */
const HOPELESS_MS = 1000;

type Parser = (body: Buffer, contentType: string) => unknown;

const readMessage = createMessageReader(GetFaceVecRequestSchema, TEXT_PARSERS);

const readBody: Parser = async (body, contentType) => readMessage([], await parseBody(body, contentType));
const readQuery: Parser = (query) => readMessage(parseForm(query.toString()), []);
const readImage: Parser = (text) => TEXT_PARSERS["face.v1.Image"].fromText(text);
const readProtobuf: Parser = (bytes) => {
  checkProtobuf(bytes, GetImageAttrRequestSchema);
  fromBinary(GetImageAttrRequestSchema, bytes, { readUnknownFields: false });
};
const readJsonMessage: Parser = async (json) => {
  const bytes = await binaryFromJson(json, GetFaceVecRequestSchema);
  checkProtobuf(bytes, GetFaceVecRequestSchema);
  fromBinary(GetFaceVecRequestSchema, bytes, { readUnknownFields: false });
};

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Measures the longest time, in milliseconds, that parsing keeps the event loop from running anything else. */
async function blockedMs(parse: Parser, body: Buffer, contentType: string): Promise<number> {
  // Parsers overwrite the body.
  const copy = Buffer.from(body);
  let longest = 0;
  let last = { wall: performance.now(), cpu: cpuMs() };
  const tick = () => {
    const now = { wall: performance.now(), cpu: cpuMs() };
    // On a busy machine much of the wall time belongs to other processes.
    longest = Math.max(longest, Math.min(now.wall - last.wall, now.cpu - last.cpu));
    last = now;
  };
  let isDone = false;
  const watch = () => {
    tick();
    if (!isDone) setImmediate(watch);
  };
  setImmediate(watch);
  try {
    await parse(copy, contentType);
  } catch (fault) {
    if (!(fault instanceof RestError || fault instanceof ServiceError)) throw fault;
  }
  tick();
  isDone = true;
  return longest;
}

/** Returns the fastest of several runs, or the first that is fast enough. */
async function fastestMs(
  parse: Parser,
  { build, contentType }: SampleBody,
  size: number,
  enoughMs: number,
): Promise<number> {
  const body = build(size);
  let best = Number.POSITIVE_INFINITY;
  for (let run = 0; run < RUNS && best > enoughMs; run++) {
    best = Math.min(best, await blockedMs(parse, body, contentType));
    if (best > HOPELESS_MS) break;
  }
  return best;
}

describe.each<[string, Parser, SampleBodies, number]>([
  ["JSON", readBody, JSON_BODIES, MAX_BODY_BYTES],
  ["JSON with an image as a message", readBody, JSON_MESSAGES, MAX_BODY_BYTES],
  ["the JSON form of Protobuf", readJsonMessage, JSON_MESSAGES, MAX_BODY_BYTES],
  ["a form", readBody, FORM_BODIES, MAX_BODY_BYTES],
  ["a query", readQuery, FORM_BODIES, MAX_QUERY_BYTES],
  ["multipart", readBody, MULTIPART_BODIES, MAX_BODY_BYTES],
  ["the text of an image", readImage, IMAGE_TEXTS, MAX_BODY_BYTES],
  ["Protobuf", readProtobuf, PROTOBUF_BODIES, MAX_BODY_BYTES],
])("parsing %s", (_, parse, { legitimate, hostile }, size) => {
  let allowedMs = FLOOR_MS;

  test.each(legitimate)("does not block the event loop for $name", async (sample) => {
    const ms = await fastestMs(parse, sample, size, FLOOR_MS / MAX_RATIO);
    expect(ms).toBeLessThan(MAX_BLOCKED_MS);
    allowedMs = Math.max(allowedMs, MAX_RATIO * ms);
  });

  test.each(hostile)("does not block the event loop for $name", async (sample) => {
    expect(await fastestMs(parse, sample, size, allowedMs)).toBeLessThanOrEqual(allowedMs);
  });
});
