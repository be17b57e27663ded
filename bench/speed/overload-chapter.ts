import { formatMs, formatPercent, formatTable } from "../../tools/support/format.ts";
import { median, quantile } from "../../tools/support/statistics.ts";
import { OK, OVERLOADED, type Sample } from "../load/load.ts";
import { percentilesOf } from "../load/run-load.ts";
import { drawPlot, type Line } from "../plot.ts";
import type { Chapter } from "../report.ts";
import { CLIENTS, type Overload, PARTS, phaseAt, splitRound } from "./overload.ts";
import { PHASE_SECONDS } from "./pace.ts";

/** The service's default of VISAGE_MAX_QUEUE_WAIT_MS. */
const MAX_QUEUE_WAIT_MS = 1000;

/** Reports how the service sheds load. */
export function overloadChapter(overload: Overload): Chapter {
  const { capacity, serviceMs, ofClients, probes, rounds } = overload;
  const splits = rounds.map(splitRound);
  const atHalf = [...phaseOf(overload, 0), ...splits.flatMap((round) => round.atHalf)];
  const atTwice = [...phaseOf(overload, 1), ...splits.flatMap((round) => round.atTwice)];
  const calm = coded(atHalf, OK);
  const accepted = coded(atTwice, OK);
  const rejected = coded(atTwice, OVERLOADED);
  const during = percentilesOf(accepted);
  const rejection = percentilesOf(rejected);
  const mostMs = MAX_QUEUE_WAIT_MS + 2 * serviceMs;
  const rejectedClients = coded(ofClients, OVERLOADED).length;
  const health = quantile(tookMs(probes), 0.99);
  const throughput = median(rounds.map((round) => round.throughput));
  const recovery = recoverySeconds(overload);
  const unwell = probes.filter(({ well }) => !well).length;
  const all = [...overload.samples, ...ofClients, ...rounds.flatMap(({ samples }) => samples)];
  const lost = all.filter(({ code }) => code !== OK && code !== OVERLOADED).length;
  const row = (name: string, values: readonly number[]) => [
    name,
    values.length,
    ...[0.5, 0.95, 0.99].map((share) => formatMs(quantile(values, share))),
  ];
  return {
    title: "Overload",
    figures: [
      {
        name: `rejections in a closed loop of ${CLIENTS} clients`,
        measured: `${rejectedClients} of ${ofClients.length}`,
        target: "none",
        isMet: rejectedClients === 0,
      },
      {
        name: "p99 of accepted requests at twice the capacity",
        measured: formatMs(during.p99),
        target: `≤ ${formatMs(mostMs)}: the wait limit and twice the service time`,
        isMet: during.p99 <= mostMs,
      },
      {
        name: "p99 of rejections",
        measured: formatMs(rejection.p99),
        target: "≤ 50 ms",
        isMet: rejection.p99 <= 50,
      },
      {
        name: "p99 of health answers in the overload",
        measured: `${formatMs(health)}, ${unwell} not well`,
        target: "≤ 100 ms",
        isMet: health <= 100 && unwell === 0,
      },
      {
        name: "throughput at twice the capacity, as a share of a closed loop's",
        measured: formatPercent(throughput, 1),
        target: "≥ 95 %",
        isMet: throughput >= 0.95,
      },
      {
        name: "recovery after the overload",
        measured: recovery === undefined ? `not in ${PHASE_SECONDS} s` : `${recovery} s`,
        target: "≤ 5 s",
        isMet: recovery !== undefined && recovery <= 5,
      },
    ],
    body: `get_face_vec on a 640x480 photo over multipart. A request is rejected when it would wait for a worker for more than ${MAX_QUEUE_WAIT_MS} ms. The capacity, ${capacity.toFixed(1)} requests a second, is the best of three closed loops; the service time, ${formatMs(serviceMs)}, is that of one request in a worker. First, ${CLIENTS} clients each send a request when they have the answer to the one before, for ${PHASE_SECONDS} s. Then requests arrive as a Poisson process, independently of the answers, for ${PHASE_SECONDS} s each at half, twice and half the capacity; the time of a request counts from when it was due. Health is checked ten times a second over each protocol. Recovery is the time after the overload until the p99 of a second's requests is no higher than in the worst second before it. Last, closed loops, half and twice the capacity are repeated ${rounds.length} times, as a machine may be slower in one minute than in another: the throughput is the median of their ratios, and the latencies below are of all requests at half and at twice the capacity except those of a repetition's first second at twice, in which the queue fills. Requests that were neither answered nor rejected: ${lost}.

${formatTable(
  ["", "count", "p50", "p95", "p99"],
  [
    row(`${CLIENTS} clients`, tookMs(coded(ofClients, OK))),
    row("accepted at half", tookMs(calm)),
    row("accepted at twice", tookMs(accepted)),
    row("rejected at twice", tookMs(rejected)),
    row("/healthz at twice", tookMs(probes.filter(({ wire }) => wire === "/healthz"))),
    row("gRPC health at twice", tookMs(probes.filter(({ wire }) => wire === "gRPC health"))),
  ],
)}

![Requests by the second](speed-overload.svg)

![Latency by the second](speed-overload-latency.svg)`,
  };
}

/** Plots requests that arrived, were answered and were rejected, by the second. */
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
      bySecond("rejected", coded(samples, OVERLOADED), done, (list) => list.length),
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
      const isRejecting = own.some(({ code }) => code !== OK);
      return isRejecting ? Number.POSITIVE_INFINITY : quantile(tookMs(own), 0.99) || 0;
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
