import { expect, test } from "vitest";
import { arrivalTimes, runClosedLoop } from "../../bench/load/arrivals.ts";
import { drawPlot } from "../../bench/plot.ts";
import { measureSearches, searchChapter, searchTimeToTarget } from "../../bench/speed/search.ts";
import { type StreamRound, streamChapter } from "../../bench/speed/stream.ts";
import { median, quantile } from "../../tools/support/statistics.ts";

const NEVER = new AbortController().signal;

test("a quantile is computed by the nearest-rank method", () => {
  const values = [5, 1, 4, 2, 3];
  expect(median(values)).toBe(3);
  expect(quantile(values, 0.99)).toBe(5);
  expect(quantile(values, 0.2)).toBe(1);
  expect(quantile([], 0.5)).toBeNaN();
});

test("an open loop has sorted, reproducible arrival times at the rate of each phase", () => {
  const phases = [
    { perSecond: 50, seconds: 100 },
    { perSecond: 200, seconds: 100 },
  ];
  const times = [...arrivalTimes(phases)];
  expect(times).toEqual(times.toSorted((one, other) => one - other));
  expect(times).toEqual([...arrivalTimes(phases)]);
  const early = times.filter((ms) => ms < 100_000).length;
  expect(early / 5000).toBeCloseTo(1, 1);
  expect((times.length - early) / 20_000).toBeCloseTo(1, 1);
});

test("a closed loop keeps its number of requests in flight and sends exactly the requested number", async () => {
  let [inFlight, max, sent] = [0, 0, 0];
  const send = async () => {
    sent++;
    max = Math.max(max, ++inFlight);
    await new Promise((resolve) => setImmediate(resolve));
    inFlight--;
  };
  await runClosedLoop({ inFlight: 4, requests: 30 }, send, NEVER);
  expect({ max, sent }).toEqual({ max: 4, sent: 30 });
});

test("a plot has a title and one polyline per series within the plot area", () => {
  const svg = drawPlot({
    title: "Speed",
    xLabel: "in flight",
    yLabel: "requests/s",
    isLog2: true,
    lines: [
      { name: "one", points: [[1, 10], [2, 19.5], [4, 38]] }, // biome-ignore format: points
      { name: "other", points: [[1, 0], [2, 0], [4, 0]] }, // biome-ignore format: points
    ],
  });
  expect(svg).toMatch(/^<svg [^>]*>\n<title>Speed<\/title>/);
  const lines = [...svg.matchAll(/<polyline [^>]*points="([^"]*)"/g)].map(([, points]) =>
    points!.split(" ").map((point) => point.split(",").map(Number)),
  );
  expect(lines).toHaveLength(2);
  const [[left, middle, right], flat] = lines as [number[][], number[][]];
  expect(middle![0]! - left![0]!).toBeCloseTo(right![0]! - middle![0]!, 0);
  expect(right![1]!).toBeGreaterThan(46);
  expect(new Set(flat.map(([, y]) => y)).size).toBe(1);
  expect(svg).not.toContain("NaN");
});

test("the search target is proportional to the number of templates, and the slowest search counts", () => {
  const searches = (count: number, enrolledMs: number) => ({
    count,
    times: [
      { name: "linear scan", isLinearScan: true, unknownMs: 280, enrolledMs: 290 },
      { name: "nearest", isLinearScan: false, unknownMs: 60, enrolledMs },
    ],
  });
  expect(searchChapter(searches(1_000_000, 80)).figures).toEqual([
    {
      name: "search in 1,000,000 templates, one thread",
      measured: "80 ms (linear scan: 290 ms)",
      target: "≤ 100 ms",
      isMet: true,
    },
  ]);
  expect(searchChapter(searches(1_000_000, 101)).figures).toMatchObject([{ isMet: false }]);
  expect(searchTimeToTarget(searches(100_000, 80))).toBe(8);
});

test("searches are timed with and without the index", () => {
  const { count, times } = measureSearches(1_000);
  expect(count).toBe(1_000);
  expect(times.map(({ name }) => name)).toEqual(["linear scan", "nearest", "10 nearest within 0.5"]);
  for (const { unknownMs, enrolledMs } of times) {
    expect(unknownMs).toBeGreaterThan(0);
    expect(enrolledMs).toBeGreaterThan(0);
  }
});

test("a stream meets its target if it is as fast as unary calls within the standard error", () => {
  const chapterOf = (rounds: StreamRound[]) =>
    streamChapter({ inFlight: 8, warmUpTurns: 0, rounds, costs: [] });
  const round = (stream: number, unary: number, core = 50): StreamRound => ({ stream, unary, core });
  const [close] = chapterOf([round(42, 40), round(38, 41), round(40, 40)]).figures;
  expect(close).toMatchObject({ measured: "0.99 ± 0.04", isMet: true });
  const [slow] = chapterOf([round(35, 40), round(36, 41), round(35, 40)]).figures;
  expect(slow).toMatchObject({ measured: "0.88 ± 0.00", isMet: false });
  expect(chapterOf([round(35, 40), round(36, 41)]).body).toContain("| bare core | 50.0 |");
});
