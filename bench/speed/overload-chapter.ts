import { OK, OVERLOADED, type Sample } from "../load/load.ts";
import { percentilesOf } from "../load/run-load.ts";
import { drawPlot, type Line } from "../plot.ts";
import { median, quantile } from "../quantiles.ts";
import { type Chapter, milliseconds, percent, table } from "../report.ts";
import { type Overload, PARTS, phaseAt, splitTurn } from "./overload.ts";
import { PHASE_SECONDS } from "./pace.ts";

/** Tells how the service bore the overload. */
export function overloadChapter(overload: Overload): Chapter {
  const { capacity, probes, turns } = overload;
  const splits = turns.map(splitTurn);
  const atHalf = [...phaseOf(overload, 0), ...splits.flatMap((turn) => turn.atHalf)];
  const atTwice = [...phaseOf(overload, 1), ...splits.flatMap((turn) => turn.atTwice)];
  const calm = coded(atHalf, OK);
  const accepted = coded(atTwice, OK);
  const refused = coded(atTwice, OVERLOADED);
  const before = percentilesOf(calm);
  const during = percentilesOf(accepted);
  const refusal = percentilesOf(refused);
  const health = quantile(tookMs(probes), 0.99);
  const throughput = median(turns.map((turn) => turn.throughput));
  const recovery = recoverySeconds(overload);
  const unwell = probes.filter(({ well }) => !well).length;
  const all = [...overload.samples, ...turns.flatMap(({ samples }) => samples)];
  const lost = all.filter(({ code }) => code !== OK && code !== OVERLOADED).length;
  const row = (name: string, values: readonly number[]) => [
    name,
    values.length,
    ...[0.5, 0.95, 0.99].map((share) => milliseconds(quantile(values, share))),
  ];
  return {
    title: "Overload",
    figures: [
      {
        what: "p99 of accepted requests, twice the capacity against half of it",
        measured: `${(during.p99 / before.p99).toFixed(1)} times (${milliseconds(during.p99)})`,
        target: "≤ 3 times",
        reached: during.p99 <= 3 * before.p99,
      },
      {
        what: "p99 of refusals",
        measured: milliseconds(refusal.p99),
        target: "≤ 50 ms",
        reached: refusal.p99 <= 50,
      },
      {
        what: "p99 of health answers in the overload",
        measured: `${milliseconds(health)}, ${unwell} not well`,
        target: "≤ 100 ms",
        reached: health <= 100 && unwell === 0,
      },
      {
        what: "throughput at twice the capacity, of that in a closed loop",
        measured: percent(throughput, 1),
        target: "≥ 90 %",
        reached: throughput >= 0.9,
      },
      {
        what: "recovery after the overload",
        measured: recovery === undefined ? `not in ${PHASE_SECONDS} s` : `${recovery} s`,
        target: "≤ 5 s",
        reached: recovery !== undefined && recovery <= 5,
      },
    ],
    body: `get_face_vec on a 640x480 photo over multipart. The capacity, ${capacity.toFixed(1)} requests a second, is the best of three closed loops. Then requests arrive as a Poisson process, whatever becomes of earlier ones, for ${PHASE_SECONDS} s each at half, twice and half the capacity; a request's time counts from the moment it was due. Health is asked for ten times a second over each wire. Recovery is how long after the overload the p99 of a second's requests is no higher than in the worst second before it. After that, closed loops, half and twice the capacity take ${turns.length} turns, as a machine may be slower in one minute than in another: the throughput is the median of their ratios, and the latencies below are of all requests at half and at twice the capacity but those of a turn's first second at twice, in which the queue fills. Requests that were neither answered nor refused: ${lost}.

${table(
  ["", "count", "p50", "p95", "p99"],
  [
    row("accepted at half", tookMs(calm)),
    row("accepted at twice", tookMs(accepted)),
    row("refused at twice", tookMs(refused)),
    row("/healthz at twice", tookMs(probes.filter(({ wire }) => wire === "/healthz"))),
    row("gRPC health at twice", tookMs(probes.filter(({ wire }) => wire === "gRPC health"))),
  ],
)}

![Requests by the second](speed-overload.svg)

![Latency by the second](speed-overload-latency.svg)`,
  };
}

/** Draws what arrived, was answered and was refused, second by second. */
export function overloadPlot({ samples }: Overload): string {
  const due = ({ dueMs }: Sample) => dueMs;
  const done = ({ dueMs, tookMs }: Sample) => dueMs + tookMs;
  return drawPlot({
    title: "Overload: half, twice and half the capacity",
    xLabel: "seconds",
    yLabel: "requests a second",
    lines: [
      bySecond("arrived", samples, due, (list) => list.length),
      bySecond("answered", coded(samples, OK), done, (list) => list.length),
      bySecond("refused", coded(samples, OVERLOADED), done, (list) => list.length),
    ],
  });
}

/** Draws how long accepted requests took, by the second in which they were due. */
export function overloadLatencyPlot({ samples }: Overload): string {
  const accepted = coded(samples, OK);
  const line = (name: string, share: number) =>
    bySecond(
      name,
      accepted,
      ({ dueMs }) => dueMs,
      // A second without an accepted request has no latency to draw.
      (list) => quantile(tookMs(list), share) || 0,
    );
  return drawPlot({
    title: "Overload: latency of accepted requests",
    xLabel: "seconds",
    yLabel: "milliseconds",
    lines: [line("p50", 0.5), line("p99", 0.99)],
  });
}

function coded(samples: readonly Sample[], wanted: string): Sample[] {
  return samples.filter(({ code }) => code === wanted);
}

function phaseOf({ samples }: Overload, phase: number): Sample[] {
  return samples.filter(({ dueMs }) => phaseAt(dueMs) === phase);
}

/** Whole seconds after the overload until a second is as good as the worst before it. */
function recoverySeconds(overload: Overload): number | undefined {
  const slowness = (phase: number) =>
    seconds(PHASE_SECONDS).map((second) => {
      const from = 1000 * (phase * PHASE_SECONDS + second);
      const own = overload.samples.filter(({ dueMs }) => dueMs >= from && dueMs < from + 1000);
      const isRefusing = own.some(({ code }) => code !== OK);
      return isRefusing ? Number.POSITIVE_INFINITY : quantile(tookMs(own), 0.99) || 0;
    });
  const level = Math.max(...slowness(0));
  const second = slowness(2).findIndex((slow) => slow <= level);
  return second < 0 ? undefined : second;
}

function bySecond(
  name: string,
  samples: readonly Sample[],
  momentOf: (sample: Sample) => number,
  value: (samples: readonly Sample[]) => number,
): Line {
  const points = seconds(PARTS.length * PHASE_SECONDS).map((second) => {
    const own = samples.filter((sample) => Math.floor(momentOf(sample) / 1000) === second);
    return [second, value(own)] as const;
  });
  return { name, points };
}

function seconds(count: number): number[] {
  return Array.from({ length: count }, (_, second) => second);
}

function tookMs(timed: readonly { readonly tookMs: number }[]): number[] {
  return timed.map((one) => one.tookMs);
}
