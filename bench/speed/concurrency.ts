import { formatMs, formatTable } from "../../tools/support/format.ts";
import { mapWithProgress } from "../../tools/support/progress.ts";
import { type ServiceProcess, USER } from "../../tools/support/service-process.ts";
import type { Operation, Wire } from "../load/load.ts";
import type { Photos } from "../load/photos.ts";
import { measureSpeed, type Speed } from "../load/run-load.ts";
import { drawPlot, type Line } from "../plot.ts";
import type { Chapter } from "../report.ts";
import { SECONDS } from "./pace.ts";

const OPERATIONS: readonly Operation[] = ["match_faces", "get_image_attr", "get_face_vec"];
const IN_FLIGHT = [1, 2, 4, 8, 16];
const WIRES: readonly Wire[] = ["grpc", "multipart", "json"];
const WIRES_IN_FLIGHT = 8;

function imagesOf(operation: Operation): number {
  return operation === "match_faces" ? 2 : 1;
}

/** One way of asking, and how fast it went. */
export interface Cell {
  readonly wire: Wire;
  readonly operation: Operation;
  readonly inFlight: number;
  readonly speed: Speed;
}

/** Measures each operation over gRPC against concurrency, and one of them over every wire. */
export function measureConcurrency({ port }: ServiceProcess, photos: Photos): Promise<Cell[]> {
  const sweep = OPERATIONS.flatMap((operation) =>
    IN_FLIGHT.map((inFlight) => ({ wire: "grpc" as Wire, operation, inFlight })),
  );
  const others = WIRES.filter((wire) => wire !== "grpc").map((wire) => ({
    wire,
    operation: "get_face_vec" as const,
    inFlight: WIRES_IN_FLIGHT,
  }));
  const pair = [photos.one("640x480"), photos.other];
  return mapWithProgress("concurrency", [...sweep, ...others], async (cell) => {
    const images = pair.slice(0, imagesOf(cell.operation));
    const mix = [{ wire: cell.wire, operation: cell.operation, images }];
    const speed = await measureSpeed(
      { port, userId: USER, mix },
      { inFlight: cell.inFlight, seconds: SECONDS },
    );
    return { ...cell, speed };
  });
}

/** Draws throughput against concurrency. */
export function throughputPlot(cells: readonly Cell[]): string {
  return drawPlot({
    title: "Throughput against concurrency (gRPC, 640x480, one face)",
    xLabel: "requests in flight",
    yLabel: "requests a second",
    doublings: true,
    lines: OPERATIONS.map((operation) => lineOf(cells, operation, operation, ({ perSecond }) => perSecond)),
  });
}

/** Draws the percentiles of the latency of get_face_vec against concurrency. */
export function latencyPlot(cells: readonly Cell[]): string {
  return drawPlot({
    title: "Latency of get_face_vec against concurrency (gRPC, 640x480)",
    xLabel: "requests in flight",
    yLabel: "milliseconds",
    doublings: true,
    lines: (["p50", "p95", "p99"] as const).map((name) =>
      lineOf(cells, "get_face_vec", name, (speed) => speed[name]),
    ),
  });
}

function lineOf(
  cells: readonly Cell[],
  operation: Operation,
  name: string,
  value: (speed: Speed) => number,
): Line {
  const own = cells.filter((cell) => cell.wire === "grpc" && cell.operation === operation);
  return { name, points: own.map(({ inFlight, speed }) => [inFlight, value(speed)]) };
}

/** Tells throughput and latency of every cell. */
export function concurrencyChapter(cells: readonly Cell[]): Chapter {
  const speedTexts = ({ perSecond, p50, p95, p99 }: Speed) => [
    perSecond.toFixed(1),
    formatMs(p50),
    formatMs(p95),
    formatMs(p99),
  ];
  const sweep = cells.filter(({ wire }) => wire === "grpc");
  const wires = cells.filter(
    (cell) => cell.operation === "get_face_vec" && cell.inFlight === WIRES_IN_FLIGHT,
  );
  return {
    title: "Throughput and latency against concurrency",
    figures: [],
    body: `Over gRPC, on 640x480 photos of one face (match_faces takes two; compare_faces does the same work), in a closed loop: so many callers, each of whom asks again when it has its answer.

${formatTable(
  ["operation", "in flight", "a second", "p50", "p95", "p99"],
  sweep.map(({ operation, inFlight, speed }) => [operation, inFlight, ...speedTexts(speed)]),
)}

![Throughput against concurrency](speed-throughput.svg)

![Latency against concurrency](speed-latency.svg)

The wires compared: get_face_vec with ${WIRES_IN_FLIGHT} in flight; \`json\` carries the image as Base64.

${formatTable(
  ["wire", "a second", "p50", "p95", "p99"],
  wires.map(({ wire, speed }) => [wire, ...speedTexts(speed)]),
)}`,
  };
}
