import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createRequestLog } from "../../src/telemetry/request-log.ts";
import type { RequestObserver, RequestSummary } from "../../src/telemetry/request-summary.ts";
import { type CapturedLog, captureLog } from "../support/log.ts";

const PERIOD_MS = 10_000;

let captured: CapturedLog;
let observe: RequestObserver;
beforeEach(() => {
  vi.useFakeTimers();
  captured = captureLog();
  observe = createRequestLog(captured.log);
});
afterEach(() => vi.useRealTimers());

function summaryOf(address?: string): RequestSummary {
  return {
    requestId: "1",
    trace: undefined,
    user: undefined,
    failedAuth: address === undefined ? undefined : { address, credential: "key" },
    operation: "match_faces",
    protocol: "rest",
    outcome: "UNKNOWN_USER",
    startedAtMs: 0,
    durationMs: 1,
    imageBytes: 0,
    faces: [],
    stages: [],
  };
}

const NOTICE = "failed authentications not logged";

test("10,000 wrong keys of one address write ten lines and one with the number of the others", () => {
  for (let i = 0; i < 10_000; i++) observe(summaryOf("203.0.113.5"));
  vi.advanceTimersByTime(PERIOD_MS);
  expect(captured.lines).toHaveLength(11);
  expect(captured.lines[0]).toMatchObject({ "client.address": "203.0.113.5", credential: "key" });
  expect(captured.events(NOTICE)).toMatchObject([{ level: "warn", lines: 9_990 }]);
});

test("10,000 wrong keys of as many addresses write 100 lines and one with the number of the others", () => {
  for (let i = 0; i < 10_000; i++) observe(summaryOf(`2001:db8::${i.toString(16)}`));
  vi.advanceTimersByTime(PERIOD_MS);
  expect(captured.lines).toHaveLength(101);
  expect(captured.events(NOTICE)).toMatchObject([{ lines: 9_900 }]);
});

test("an attack does not hide the failures of another address", () => {
  for (let i = 0; i < 10_000; i++) observe(summaryOf("203.0.113.5"));
  observe(summaryOf("198.51.100.1"));
  expect(captured.lines.at(-1)).toMatchObject({ "client.address": "198.51.100.1" });
});

test("failures are logged again in the next period", () => {
  for (let period = 0; period < 3; period++) {
    for (let i = 0; i < 20; i++) observe(summaryOf("203.0.113.5"));
    vi.advanceTimersByTime(PERIOD_MS);
  }
  expect(captured.lines).toHaveLength(3 * 11);
});

test("other requests are always logged, without an address", () => {
  for (let i = 0; i < 10_000; i++) observe(summaryOf());
  vi.advanceTimersByTime(PERIOD_MS);
  expect(captured.lines).toHaveLength(10_000);
  expect(captured.lines[0]).not.toHaveProperty(["client.address"]);
});
