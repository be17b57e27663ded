import { expect, test } from "vitest";
import { traceContextFrom } from "../../src/telemetry/trace-context.ts";

const TRACE_ID = "0af7651916cd43dd8448eb211c80319c";
const SPAN_ID = "b7ad6b7169203331";
const VALID = `00-${TRACE_ID}-${SPAN_ID}-01`;

test("continues the caller's trace", () => {
  const tracestate = "vendor=1";
  const parent = { spanId: SPAN_ID, flags: 1, state: tracestate };
  expect(traceContextFrom({ traceparent: VALID, tracestate }, false)).toEqual({ traceId: TRACE_ID, parent });
});

test("accepts later versions with further parts", () => {
  expect(traceContextFrom({ traceparent: `cc${VALID.slice(2)}-more` }, false)?.traceId).toBe(TRACE_ID);
});

test.each([
  "",
  "00",
  TRACE_ID,
  `ff${VALID.slice(2)}`,
  `${VALID}-more`,
  `${VALID}, ${VALID}`,
  `${VALID}\n`,
  VALID.toUpperCase(),
  `00-${"0".repeat(32)}-${SPAN_ID}-01`,
  `00-${TRACE_ID}-${"0".repeat(16)}-01`,
  `00-${TRACE_ID}0-${SPAN_ID}-01`,
  `00-${TRACE_ID.replace("0", "g")}-${SPAN_ID}-01`,
  `00-${TRACE_ID}-${SPAN_ID}-1`,
  `01-${TRACE_ID}-${SPAN_ID}-01-\u{1f600}`,
  `","trace_id":"${TRACE_ID}`,
  "0".repeat(16_000),
  `cc${VALID.slice(2)}${"-".repeat(16_000)}\n`,
])("starts a new trace for the invalid traceparent %j, if requests are traced", (traceparent) => {
  expect(traceContextFrom({ traceparent }, false)).toBeUndefined();
  const started = traceContextFrom({ traceparent }, true)!;
  expect(started).toEqual({ traceId: expect.stringMatching(/^[\da-f]{32}$/), parent: undefined });
  expect(started.traceId).not.toBe(TRACE_ID);
});
