import { beforeAll, describe, expect, test } from "vitest";
import { createFixtures, runCampaign } from "../../tools/fuzz/edge/campaign.ts";
import { edgeCases } from "../../tools/fuzz/edge/cases.ts";
import { HTTP1_GENERATORS } from "../../tools/fuzz/edge/http1-cases.ts";
import { HTTP2_GENERATORS } from "../../tools/fuzz/edge/http2-cases.ts";
import { FRAME, frame, headers, parseFrames, settings } from "../../tools/fuzz/edge/http2-frames.ts";
import { http1Fault, http2Fault } from "../../tools/fuzz/edge/response-faults.ts";
import type { Fixtures } from "../../tools/fuzz/edge/script.ts";

const SEED = 20_260_101;
const CASES = process.env.CI === "true" ? 50_000 : 5_000;

test("the service survives broken HTTP/1.1 and HTTP/2 and leaves no request open", async () => {
  const numbers = Array.from({ length: CASES }, (_, number) => number);
  const { tried, succeeded, faults } = await runCampaign({ seed: SEED, numbers });
  expect(faults).toEqual([]);
  expect(tried).toBe(CASES);
  expect(succeeded, "some cases are valid requests that reach the workers").toBeGreaterThan(0);
}, 600_000);

describe("the cases", () => {
  let fixtures: Fixtures;
  beforeAll(async () => {
    fixtures = await createFixtures();
  });
  const some = (seed: number, count: number) => [...edgeCases(seed, fixtures, count)];

  test("depend on the seed only", () => {
    expect(some(SEED, 50)).toEqual(some(SEED, 50));
    expect(some(SEED, 50)).not.toEqual(some(SEED + 1, 50));
  });

  test("come from every generator", () => {
    const kinds = new Set(some(SEED, 1_000).map(({ kind }) => kind));
    expect(kinds.size).toBe(HTTP1_GENERATORS.length + HTTP2_GENERATORS.length);
  });
});

const JSON_HEAD = "content-type: application/json\r\ncontent-length: 2";
test.each([
  ["JSON", `HTTP/1.1 400 Bad Request\r\n${JSON_HEAD}\r\n\r\n{}`, undefined],
  ["no body", "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n", undefined],
  [
    "two answers",
    `HTTP/1.1 200 OK\r\n${JSON_HEAD}\r\n\r\n{}HTTP/1.1 408 x\r\n${JSON_HEAD}\r\n\r\n{}`,
    undefined,
  ],
  [
    "an answer to HEAD before another",
    `HTTP/1.1 200 OK\r\n${JSON_HEAD}\r\n\r\nHTTP/1.1 200 OK\r\n`,
    undefined,
  ],
  [
    "chunks",
    "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    undefined,
  ],
  ["malformed JSON", `HTTP/1.1 400 Bad Request\r\n${JSON_HEAD}\r\n\r\n{x`, /malformed JSON/],
  [
    "malformed JSON as the second answer",
    `HTTP/1.1 200 OK\r\n${JSON_HEAD}\r\n\r\n{}HTTP/1.1 408 x\r\n${JSON_HEAD}\r\n\r\n{x`,
    /malformed JSON/,
  ],
  [
    "an error page",
    "HTTP/1.1 400 x\r\ncontent-type: text/html\r\ncontent-length: 3\r\n\r\n<p>",
    /text\/html/,
  ],
  ["an internal error", `HTTP/1.1 500 x\r\n${JSON_HEAD}\r\n\r\n{}`, /internal error/],
  [
    "a stack trace",
    'HTTP/1.1 400 x\r\ncontent-type: application/json\r\ncontent-length: 20\r\n\r\n"x\n   at f (a.js:1:1)"',
    /stack trace/,
  ],
  ["other bytes", "SSH-2.0-OpenSSH\r\n\r\n", /not HTTP/],
])("judges %s over HTTP/1.1", (_name, answer, expected) => {
  const fault = http1Fault(Buffer.from(answer));
  if (expected) expect(fault).toMatch(expected);
  else expect(fault).toBeUndefined();
});

test.each([
  ["SETTINGS alone", [settings()], undefined],
  ["status 200", [settings(), frame(FRAME.headers, 4, 1, Buffer.from([0x88]))], undefined],
  ["status 500", [settings(), frame(FRAME.headers, 4, 1, Buffer.from([0x8e]))], /500/],
  [
    "a stack trace",
    [settings(), frame(FRAME.data, 1, 1, Buffer.from("x\n  at f (a.js:1:1)"))],
    /stack trace/,
  ],
])("judges %s over HTTP/2", (_name, frames, expected) => {
  const fault = http2Fault(Buffer.concat(frames));
  if (expected) expect(fault).toMatch(expected);
  else expect(fault).toBeUndefined();
});

test("frames that are written can be parsed", () => {
  const [first, second] = parseFrames(Buffer.concat([settings([[4, 0]]), headers(3, [["a", "b"]])]));
  expect(first).toMatchObject({
    type: FRAME.settings,
    stream: 0,
    payload: Buffer.from("000400000000", "hex"),
  });
  expect(second).toMatchObject({ type: FRAME.headers, stream: 3, payload: Buffer.from("\0\x01a\x01b") });
});
