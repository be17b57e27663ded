import { formatMs, formatPercent, formatTable } from "../../tools/support/format.ts";
import { median, quantile } from "../../tools/support/statistics.ts";
import { OK, OVERLOADED, type Sample } from "../load/load.ts";
import { doneMs, latencyPercentiles } from "../load/run-load.ts";
import { drawPlot, type Line } from "../plot.ts";
import type { Chapter } from "../report.ts";
import { CLIENTS, type Overload, PHASE_RATES, PHASE_SECONDS, phaseAt, splitRound } from "./overload.ts";

/** The default of VISAGE_MAX_QUEUE_WAIT_MS. */
const MAX_QUEUE_WAIT_MS = 1000;

/** Reports how the service sheds load. */
export function overloadChapter(overload: Overload): Chapter {
  const { capacity, serviceMs, closedLoop, probes, rounds } = overload;
  const splits = rounds.map(splitRound);
  const atHalf = [...samplesOfPhase(overload, 0), ...splits.flatMap((round) => round.atHalf)];
  const atTwice = [...samplesOfPhase(overload, 1), ...splits.flatMap((round) => round.atTwice)];
  const acceptedAtHalf = withCode(atHalf, OK);
  const accepted = withCode(atTwice, OK);
  const rejected = withCode(atTwice, OVERLOADED);
  const during = latencyPercentiles(accepted);
  const rejection = latencyPercentiles(rejected);
  const maxLatencyMs = MAX_QUEUE_WAIT_MS + 2 * serviceMs;
  const rejectedInLoop = withCode(closedLoop, OVERLOADED).length;
  const health = quantile(latencies(probes), 0.99);
  const throughput = median(rounds.map((round) => round.throughput));
  const recovery = recoverySeconds(overload);
  const unhealthy = probes.filter(({ isHealthy }) => !isHealthy).length;
  const all = [...overload.samples, ...closedLoop, ...rounds.flatMap(({ samples }) => samples)];
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
        measured: `${rejectedInLoop} of ${closedLoop.length}`,
        target: "none",
        isMet: rejectedInLoop === 0,
      },
      {
        name: "p99 of accepted requests at twice the capacity",
        measured: formatMs(during.p99),
        target: `≤ ${formatMs(maxLatencyMs)} (wait limit + 2 × service time)`,
        isMet: during.p99 <= maxLatencyMs,
      },
      {
        name: "p99 of rejections",
        measured: formatMs(rejection.p99),
        target: "≤ 50 ms",
        isMet: rejection.p99 <= 50,
      },
      {
        name: "p99 of health checks during the overload",
        measured: `${formatMs(health)}, ${unhealthy} failed`,
        target: "≤ 100 ms",
        isMet: health <= 100 && unhealthy === 0,
      },
      {
        name: "throughput at twice the capacity, as a share of the closed-loop throughput",
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
    body: `get_face_vec on a 640x480 photo over multipart. The service rejects a request that would wait for a worker for more than ${MAX_QUEUE_WAIT_MS} ms.

- **Capacity**: ${capacity.toFixed(1)} requests/s, the best of three closed loops. The service time, ${formatMs(serviceMs)}, is the time of one request in a worker.
- **Closed loop**: ${CLIENTS} clients for ${PHASE_SECONDS} s. Each sends its next request when it has the response to the last one.
- **Overload**: requests arrive as a Poisson process, independently of the responses, for ${PHASE_SECONDS} s each at half, twice and half the capacity. Latency counts from when a request was due. Health is checked ten times per second over each protocol.
- **Recovery**: the time after the overload until the p99 of a second is no higher than in the worst second before the overload.
- **Repetitions**: a closed loop, half and twice the capacity, ${rounds.length} times, because the speed of a machine drifts. The throughput is the median of their ratios.

The latencies are those of all requests at half and at twice the capacity, except for the first second of each repetition at twice the capacity, in which the queue fills. Requests that neither completed nor were rejected: ${lost}.

${formatTable(
  ["", "count", "p50", "p95", "p99"],
  [
    row(`${CLIENTS} clients`, latencies(withCode(closedLoop, OK))),
    row("accepted at half", latencies(acceptedAtHalf)),
    row("accepted at twice", latencies(accepted)),
    row("rejected at twice", latencies(rejected)),
    row("/healthz at twice", latencies(probes.filter(({ protocol }) => protocol === "/healthz"))),
    row("gRPC health at twice", latencies(probes.filter(({ protocol }) => protocol === "gRPC health"))),
  ],
)}

![Requests per second](speed-overload.svg)

![Latency](speed-overload-latency.svg)`,
  };
}

/** Plots arrived, completed and rejected requests per second. */
export function overloadPlot({ samples }: Overload): string {
  const due = ({ dueMs }: Sample) => dueMs;
  return drawPlot({
    title: "Overload: half, twice and half the capacity",
    xLabel: "seconds",
    yLabel: "requests/s",
    lines: [
      bySecond("arrived", samples, due, (list) => list.length),
      bySecond("completed", withCode(samples, OK), doneMs, (list) => list.length),
      bySecond("rejected", withCode(samples, OVERLOADED), doneMs, (list) => list.length),
    ],
  });
}

/** Plots the latency of accepted requests by the second in which they were due. */
export function overloadLatencyPlot({ samples }: Overload): string {
  const accepted = withCode(samples, OK);
  const line = (name: string, share: number) =>
    bySecond(
      name,
      accepted,
      ({ dueMs }) => dueMs,
      // The quantile is NaN in a second without an accepted request.
      (list) => quantile(latencies(list), share) || 0,
    );
  return drawPlot({
    title: "Overload: latency of accepted requests",
    xLabel: "seconds",
    yLabel: "milliseconds",
    lines: [line("p50", 0.5), line("p99", 0.99)],
  });
}

function withCode(samples: readonly Sample[], wanted: string): Sample[] {
  return samples.filter(({ code }) => code === wanted);
}

function samplesOfPhase({ samples }: Overload, phase: number): Sample[] {
  return samples.filter(({ dueMs }) => phaseAt(dueMs) === phase);
}

/** Seconds after the overload until the p99 of a second is no higher than in the worst second before the overload. */
function recoverySeconds(overload: Overload): number | undefined {
  const p99BySecond = (phase: number) =>
    seconds(PHASE_SECONDS).map((second) => {
      const from = 1000 * (phase * PHASE_SECONDS + second);
      const own = overload.samples.filter(({ dueMs }) => dueMs >= from && dueMs < from + 1000);
      const hasRejections = own.some(({ code }) => code !== OK);
      return hasRejections ? Number.POSITIVE_INFINITY : quantile(latencies(own), 0.99) || 0;
    });
  const level = Math.max(...p99BySecond(0));
  const second = p99BySecond(2).findIndex((p99) => p99 <= level);
  return second < 0 ? undefined : second;
}

function bySecond(
  name: string,
  samples: readonly Sample[],
  timeMs: (sample: Sample) => number,
  value: (samples: readonly Sample[]) => number,
): Line {
  const points = seconds(PHASE_RATES.length * PHASE_SECONDS).map((second) => {
    const own = samples.filter((sample) => Math.floor(timeMs(sample) / 1000) === second);
    return [second, value(own)] as const;
  });
  return { name, points };
}

function seconds(count: number): number[] {
  return Array.from({ length: count }, (_, second) => second);
}

function latencies(samples: readonly { readonly latencyMs: number }[]): number[] {
  return samples.map(({ latencyMs }) => latencyMs);
}
