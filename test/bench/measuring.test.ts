import { expect, test } from "vitest";
import { momentsOf, runClosedLoop } from "../../bench/load/arrivals.ts";
import { drawPlot } from "../../bench/plot.ts";
import { measureSearches, searchChapter, searchShareOf } from "../../bench/speed/search.ts";
import { median, quantile } from "../../tools/support/statistics.ts";

const NEVER = new AbortController().signal;

test("a quantile is the smallest value that so many do not exceed", () => {
  const values = [5, 1, 4, 2, 3];
  expect(median(values)).toBe(3);
  expect(quantile(values, 0.99)).toBe(5);
  expect(quantile(values, 0.2)).toBe(1);
  expect(quantile([], 0.5)).toBeNaN();
});

test("requests of an open loop arrive in order, at the rate of their phase, at the same moments in every run", () => {
  const phases = [
    { perSecond: 50, seconds: 100 },
    { perSecond: 200, seconds: 100 },
  ];
  const moments = [...momentsOf(phases)];
  expect(moments).toEqual(moments.toSorted((one, other) => one - other));
  expect(moments).toEqual([...momentsOf(phases)]);
  const early = moments.filter((ms) => ms < 100_000).length;
  expect(early / 5000).toBeCloseTo(1, 1);
  expect((moments.length - early) / 20_000).toBeCloseTo(1, 1);
});

test("a closed loop keeps so many requests under way, and sends no more than it should", async () => {
  let [underWay, most, sent] = [0, 0, 0];
  const send = async () => {
    sent++;
    most = Math.max(most, ++underWay);
    await new Promise((resolve) => setImmediate(resolve));
    underWay--;
  };
  await runClosedLoop({ inFlight: 4, requests: 30 }, send, NEVER);
  expect({ most, sent }).toEqual({ most: 4, sent: 30 });
});

test("a plot has a title first, a line for each series, and its highest point below the top", () => {
  const svg = drawPlot({
    title: "Speed",
    xLabel: "in flight",
    yLabel: "a second",
    doublings: true,
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

test("a search may take a time in proportion to the templates, and the slowest counts", () => {
  const searches = (count: number, knownMs: number) => ({
    count,
    times: [
      { name: "plain scan", isPlain: true, strangerMs: 280, knownMs: 290 },
      { name: "the nearest", isPlain: false, strangerMs: 60, knownMs },
    ],
  });
  expect(searchChapter(searches(1_000_000, 80)).figures).toEqual([
    {
      name: "search among 1,000,000 templates on one core",
      measured: "80 ms (a plain scan 290 ms)",
      target: "≤ 100 ms",
      isMet: true,
    },
  ]);
  expect(searchChapter(searches(1_000_000, 101)).figures).toMatchObject([{ isMet: false }]);
  expect(searchShareOf(searches(100_000, 80))).toBe(8);
});

test("searches are measured beside a plain scan, which is slower", () => {
  const searches = measureSearches(20_000);
  const [scan, ...ofIndex] = searches.times;
  for (const { strangerMs, knownMs } of ofIndex) {
    expect(strangerMs).toBeLessThan(scan!.strangerMs);
    expect(knownMs).toBeLessThan(scan!.knownMs);
  }
});
