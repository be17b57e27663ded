import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { formatProgress, ProgressBar } from "../../src/cli/progress-bar.ts";
import { TextOutput } from "../support/command-line.ts";

const ERASE_LINE = "\r\x1b[K";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test.each([
  [0, undefined, 0, "0 photos  0.0/s"],
  [30, undefined, 10, "30 photos  3.0/s"],
  [0, 100, 1, `${"░".repeat(20)}   0%  0 of 100  0.0/s`],
  [25, 100, 5, `${"█".repeat(5)}${"░".repeat(15)}  25%  25 of 100  5.0/s  15 s left`],
  [999, 100_000, 10, `${"░".repeat(20)}   0%  999 of 100000  99.9/s  17 min left`],
  [10, 100_000, 10, `${"░".repeat(20)}   0%  10 of 100000  1.0/s  27 h 47 min left`],
  [100, 100, 10, `${"█".repeat(20)} 100%  100 of 100  10.0/s  0 s left`],
  [105, 100, 10, `${"█".repeat(20)} 100%  105 of 100  10.5/s  0 s left`],
])("%i of %s photos after %i s", (done, total, seconds, text) => {
  expect(formatProgress(done, total, seconds)).toBe(text);
});

test("the bar is drawn on a terminal and erased at the end", () => {
  const output = new TextOutput({ isTTY: true });
  const bar = new ProgressBar(output);
  bar.total = 4;
  bar.advance();
  vi.advanceTimersByTime(100);
  expect(output.text.startsWith(`${ERASE_LINE}${"█".repeat(5)}${"░".repeat(15)}  25%  1 of 4 `)).toBe(true);
  bar.erase();
  bar.erase();
  expect(output.text.split(ERASE_LINE)).toHaveLength(3);
  vi.advanceTimersByTime(100);
  bar.close();
  expect(output.text.endsWith(ERASE_LINE)).toBe(true);
  const { text } = output;
  vi.advanceTimersByTime(1000);
  expect(output.text).toBe(text);
});

test("nothing is printed if the output is no terminal", () => {
  const output = new TextOutput();
  const bar = new ProgressBar(output);
  bar.advance();
  vi.advanceTimersByTime(1000);
  bar.erase();
  bar.close();
  expect(output.text).toBe("");
});
