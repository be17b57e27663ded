import { formatMs, formatTable } from "../../tools/support/format.ts";
import { median, quantile } from "../../tools/support/statistics.ts";
import type { Sample } from "../load/load.ts";
import type { Memory } from "../memory.ts";
import { drawPlot } from "../plot.ts";
import type { Chapter } from "../report.ts";
import type { SoakRequest } from "./mix.ts";

/** What the service held at one moment. */
export interface Moment {
  readonly seconds: number;
  /** How many requests were answered by then. */
  readonly requests: number;
  /** Of the server and its workers. */
  readonly memory: Memory;
}

/** A soak as it was seen. */
export interface Soak {
  readonly moments: readonly Moment[];
  readonly samples: readonly Sample[];
  readonly mix: readonly SoakRequest[];
}

/** After so many requests everything has been used, and memory should not grow any more. */
const SETTLED_AFTER = 1000;

/** Moments whose median counts, so that one collection of garbage more or less does not. */
const MOMENTS = 10;

const MIB = 2 ** 20;

/** Tells whether memory grew, and whether every request was answered as it should be. */
export function soakChapter({ moments, samples, mix }: Soak): Chapter {
  const settled = moments.filter(({ requests }) => requests >= SETTLED_AFTER);
  const early = medianMemory(settled.slice(0, MOMENTS));
  const late = medianMemory(settled.slice(-MOMENTS));
  const growth = late / early - 1;
  const wrong = samples.filter(({ kind, code }) => code !== mix[kind]!.expected);
  const size = (bytes: number) => (Number.isNaN(bytes) ? "-" : `${(bytes / MIB).toFixed(0)} MiB`);
  return {
    title: "Soak",
    figures: [
      {
        name: `memory at the end against after ${SETTLED_AFTER} requests`,
        measured: Number.isNaN(growth)
          ? "too few requests"
          : `${growth < 0 ? "" : "+"}${(100 * growth).toFixed(1)} %`,
        target: "≤ +5 %",
        isMet: growth <= 0.05,
      },
      {
        name: "requests answered otherwise than they should be",
        measured: `${wrong.length} of ${samples.length}`,
        target: "0",
        isMet: wrong.length === 0,
      },
    ],
    body: `${samples.length} requests in ${Math.round(moments.at(-1)!.seconds)} s: every operation over every wire on 320x240 to 1920x1280, one in six at fault (no face, cut off, too many pixels). Memory is the resident memory of the server and its workers together, read every second; each figure is the median of ${MOMENTS} readings: ${size(early)} after the first ${SETTLED_AFTER} requests, ${size(late)} at the end, ${size(peakMemory(moments))} at most.

![Memory over time](soak-memory.svg)

${formatTable(["answer", "requests", "p50", "p99"], answersIn(samples))}${wrongOnes(wrong, mix)}`,
  };
}

/** Draws memory over time. */
export function memoryPlot({ moments }: Soak): string {
  const line = (name: string, value: (memory: Memory) => number) => ({
    name,
    points: moments.map(({ seconds, memory }) => [seconds, value(memory) / MIB] as const),
  });
  return drawPlot({
    title: "Resident memory in the soak",
    xLabel: "seconds",
    yLabel: "MiB",
    lines: [
      line("all together", total),
      line("the server", ({ own }) => own),
      line("the largest worker", ({ children }) => Math.max(0, ...children)),
    ],
  });
}

function medianMemory(moments: readonly Moment[]): number {
  return median(moments.map(({ memory }) => total(memory)));
}

function peakMemory(moments: readonly Moment[]): number {
  return Math.max(...moments.map(({ memory }) => total(memory)));
}

function total({ own, children }: Memory): number {
  return children.reduce((sum, bytes) => sum + bytes, own);
}

function answersIn(samples: readonly Sample[]): (string | number)[][] {
  const codes = [...new Set(samples.map(({ code }) => code))].toSorted();
  return codes.map((wanted) => {
    const times = samples.filter(({ code }) => code === wanted).map(({ tookMs }) => tookMs);
    return [wanted, times.length, formatMs(median(times)), formatMs(quantile(times, 0.99))];
  });
}

function wrongOnes(wrong: readonly Sample[], mix: readonly SoakRequest[]): string {
  if (wrong.length === 0) return "";
  const lines = wrong.slice(0, 10).map(({ kind, code }) => {
    const { wire, operation, expected } = mix[kind]!;
    return `- ${operation} over ${wire}: ${code} instead of ${expected}`;
  });
  return `\n\nAnswered otherwise than they should be, the first of them:\n\n${lines.join("\n")}`;
}
