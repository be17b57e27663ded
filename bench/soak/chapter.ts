import { formatMs, formatTable } from "../../tools/support/format.ts";
import type { PerProcess } from "../../tools/support/service-process.ts";
import { median, quantile, sum } from "../../tools/support/statistics.ts";
import type { Sample } from "../load/load.ts";
import { drawPlot } from "../plot.ts";
import type { Chapter } from "../report.ts";
import type { SoakRequest } from "./mix.ts";

/** One reading of the service's memory. */
export interface MemoryReading {
  readonly seconds: number;
  /** How many requests were done by then. */
  readonly requests: number;
  /** Resident memory in bytes. */
  readonly memory: PerProcess;
}

/** The measurements of a soak test. */
export interface Soak {
  readonly readings: readonly MemoryReading[];
  readonly samples: readonly Sample[];
  readonly mix: readonly SoakRequest[];
}

/** After this many requests all code has run, and memory should not grow any more. */
const WARM_AFTER_REQUESTS = 1000;

/** Memory is compared as the median of this many readings, because garbage collection makes single ones noisy. */
const READINGS = 10;

/** How many unexpected responses are listed. */
const MAX_LISTED = 10;

const MIB = 2 ** 20;

/** Reports whether memory grew, and whether every request had the expected response. */
export function soakChapter({ readings, samples, mix }: Soak): Chapter {
  const warm = readings.filter(({ requests }) => requests >= WARM_AFTER_REQUESTS);
  const early = medianMemory(warm.slice(0, READINGS));
  const late = medianMemory(warm.slice(-READINGS));
  const growth = late / early - 1;
  const unexpected = samples.filter(({ kind, code }) => code !== mix[kind]!.expected);
  const formatMib = (bytes: number) => (Number.isNaN(bytes) ? "-" : `${(bytes / MIB).toFixed(0)} MiB`);
  return {
    title: "Soak",
    figures: [
      {
        name: `memory growth since the first ${WARM_AFTER_REQUESTS} requests`,
        measured: Number.isNaN(growth)
          ? "too few requests"
          : `${growth < 0 ? "" : "+"}${(100 * growth).toFixed(1)} %`,
        target: "≤ +5 %",
        isMet: growth <= 0.05,
      },
      {
        name: "unexpected responses",
        measured: `${unexpected.length} of ${samples.length}`,
        target: "0",
        isMet: unexpected.length === 0,
      },
    ],
    body: `${samples.length} requests in ${Math.round(readings.at(-1)!.seconds)} s: every operation over every protocol on photos from 320x240 to 1920x1280. One request in six is invalid (no face, truncated, too many pixels). Memory is the resident memory of the server and its workers, read every second. Each value is the median of ${READINGS} readings: ${formatMib(early)} after the first ${WARM_AFTER_REQUESTS} requests, ${formatMib(late)} at the end. The peak was ${formatMib(peakMemory(readings))}.

![Memory over time](soak-memory.svg)

${formatTable(["response code", "requests", "p50", "p99"], rowsByCode(samples))}${listUnexpected(unexpected, mix)}`,
  };
}

/** Plots memory over time. */
export function memoryPlot({ readings }: Soak): string {
  const line = (name: string, bytes: (memory: PerProcess) => number) => ({
    name,
    points: readings.map(({ seconds, memory }) => [seconds, bytes(memory) / MIB] as const),
  });
  return drawPlot({
    title: "Resident memory during the soak test",
    xLabel: "seconds",
    yLabel: "MiB",
    lines: [
      line("total", total),
      line("server", ({ server }) => server),
      line("largest worker", ({ workers }) => Math.max(0, ...workers)),
    ],
  });
}

function medianMemory(readings: readonly MemoryReading[]): number {
  return median(readings.map(({ memory }) => total(memory)));
}

function peakMemory(readings: readonly MemoryReading[]): number {
  return Math.max(...readings.map(({ memory }) => total(memory)));
}

function total({ server, workers }: PerProcess): number {
  return server + sum(workers);
}

function rowsByCode(samples: readonly Sample[]): (string | number)[][] {
  const codes = [...new Set(samples.map(({ code }) => code))].toSorted();
  return codes.map((code) => {
    const latencies = samples.filter((sample) => sample.code === code).map(({ latencyMs }) => latencyMs);
    return [code, latencies.length, formatMs(median(latencies)), formatMs(quantile(latencies, 0.99))];
  });
}

function listUnexpected(unexpected: readonly Sample[], mix: readonly SoakRequest[]): string {
  if (unexpected.length === 0) return "";
  const lines = unexpected.slice(0, MAX_LISTED).map(({ kind, code }) => {
    const { protocol, operation, expected } = mix[kind]!;
    return `- ${operation} over ${protocol}: ${code} instead of ${expected}`;
  });
  return `\n\nThe first unexpected responses:\n\n${lines.join("\n")}`;
}
