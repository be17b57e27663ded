import { expect, test } from "vitest";
import { BYTES_PER_FACE } from "../../src/galleries/gallery-index.ts";
import { readMarkdown, sectionUnder, tableRows } from "../support/markdown.ts";

/** Reports are measured again now and then, on machines that differ. */
const TOLERANCE = 0.25;
const UTILIZATION = 0.7;
const CORES_PER_REPLICA = 4;
const MEMORY_RESERVE = 1.5;

const numberFrom = (text: string | undefined) => Number.parseFloat(text!.replaceAll(",", ""));
function expectClose(actual: number, expected: number, what: string): void {
  expect(Math.abs(actual / expected - 1), `${what}: ${actual} instead of ${expected}`).toBeLessThan(
    TOLERANCE,
  );
}

const readme = readMarkdown("deploy/README.md");
const sizing = readMarkdown("bench/results/sizing.md");
const memory = (what: string) =>
  numberFrom(tableRows(sizing, 1).find(([name]) => name === `memory of the ${what}`)?.[1]);

test("cores, replicas and memory follow from the measured CPU time and memory", () => {
  const replicaMb = memory("server process") + CORES_PER_REPLICA * memory("largest worker");
  const rows = tableRows(sectionUnder(readme, "Sizing"), 2);
  expect(rows).toHaveLength(6);
  for (const [rate, photo, cores, replicas, gigabytes] of rows) {
    const measured = tableRows(sizing).find(([name, one]) => name === "get_face_vec" && one === photo)!;
    const cpuMs = numberFrom(measured[2]) + numberFrom(measured[3]);
    const expected = (numberFrom(rate) * cpuMs) / 1_000 / UTILIZATION;
    // One digit for less than a core.
    expectClose(numberFrom(cores), Math.max(0.5, expected), `cores for ${rate} of ${photo}`);
    expect(numberFrom(replicas)).toBe(Math.max(2, Math.ceil(numberFrom(cores) / CORES_PER_REPLICA)));
    const total = (numberFrom(replicas) * replicaMb * MEMORY_RESERVE) / 1_000;
    expectClose(numberFrom(gigabytes), total, `memory for ${rate} of ${photo}`);
  }
});

test("the calls of galleries are those of the report, and the memory is that of the index", () => {
  const report = tableRows(sectionUnder(readMarkdown("bench/results/speed.md"), "Galleries"));
  const rows = tableRows(sectionUnder(readme, "Sizing"), 3);
  expect(rows.map(([faces]) => faces)).toEqual(report.map(([templates]) => templates));
  rows.forEach(([faces, calls, percentile, megabytes], i) => {
    const [, , , latency, perSecond] = report[i]!;
    expectClose(numberFrom(calls), numberFrom(perSecond), `calls of ${faces}`);
    expectClose(numberFrom(percentile), numberFrom(latency!.split("/")[1]), `latency of ${faces}`);
    expectClose(numberFrom(megabytes), (numberFrom(faces) * BYTES_PER_FACE) / 1e6, `memory of ${faces}`);
  });
});
