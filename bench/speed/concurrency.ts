import { formatMs, formatTable } from "../../tools/support/format.ts";
import { mapWithProgress } from "../../tools/support/progress.ts";
import { type ServiceProcess, USER } from "../../tools/support/service-process.ts";
import type { Operation, Protocol } from "../load/load.ts";
import type { Photos } from "../load/photos.ts";
import { measureSpeed, type Speed } from "../load/run-load.ts";
import { drawPlot, type Line } from "../plot.ts";
import type { Chapter } from "../report.ts";

const SECONDS = 4;
const OPERATIONS: readonly Operation[] = ["match_faces", "get_image_attr", "get_face_vec"];
const IN_FLIGHT = [1, 2, 4, 8, 16];
const PROTOCOLS: readonly Protocol[] = ["grpc", "multipart", "json"];
const PROTOCOLS_IN_FLIGHT = 8;

/** The speed of one operation over one protocol at one concurrency. */
export interface Cell {
  readonly protocol: Protocol;
  readonly operation: Operation;
  readonly inFlight: number;
  readonly speed: Speed;
}

/** Measures each operation over gRPC at each concurrency, and get_face_vec over every protocol. */
export function measureConcurrency({ port }: ServiceProcess, photos: Photos): Promise<Cell[]> {
  const sweep = OPERATIONS.flatMap((operation) =>
    IN_FLIGHT.map((inFlight) => ({ protocol: "grpc" as Protocol, operation, inFlight })),
  );
  const otherProtocols = PROTOCOLS.filter((protocol) => protocol !== "grpc").map((protocol) => ({
    protocol,
    operation: "get_face_vec" as const,
    inFlight: PROTOCOLS_IN_FLIGHT,
  }));
  const pair = [photos.oneFace("640x480"), photos.otherPerson];
  return mapWithProgress("concurrency", [...sweep, ...otherProtocols], async (cell) => {
    const images = cell.operation === "match_faces" ? pair : pair.slice(0, 1);
    const mix = [{ protocol: cell.protocol, operation: cell.operation, images }];
    const speed = await measureSpeed(
      { port, userId: USER, mix },
      { inFlight: cell.inFlight, seconds: SECONDS },
    );
    return { ...cell, speed };
  });
}

/** Plots throughput against concurrency. */
export function throughputPlot(cells: readonly Cell[]): string {
  return drawPlot({
    title: "Throughput against concurrency (gRPC, 640x480, one face)",
    xLabel: "requests in flight",
    yLabel: "requests/s",
    isLog2: true,
    lines: OPERATIONS.map((operation) =>
      createLine(cells, operation, operation, ({ perSecond }) => perSecond),
    ),
  });
}

/** Plots the latency percentiles of get_face_vec against concurrency. */
export function latencyPlot(cells: readonly Cell[]): string {
  return drawPlot({
    title: "Latency of get_face_vec against concurrency (gRPC, 640x480)",
    xLabel: "requests in flight",
    yLabel: "milliseconds",
    isLog2: true,
    lines: (["p50", "p95", "p99"] as const).map((name) =>
      createLine(cells, "get_face_vec", name, (speed) => speed[name]),
    ),
  });
}

function createLine(
  cells: readonly Cell[],
  operation: Operation,
  name: string,
  value: (speed: Speed) => number,
): Line {
  const own = cells.filter((cell) => cell.protocol === "grpc" && cell.operation === operation);
  return { name, points: own.map(({ inFlight, speed }) => [inFlight, value(speed)]) };
}

/** Reports throughput and latency of all cells. */
export function concurrencyChapter(cells: readonly Cell[]): Chapter {
  const formatSpeed = ({ perSecond, p50, p95, p99 }: Speed) => [
    perSecond.toFixed(1),
    formatMs(p50),
    formatMs(p95),
    formatMs(p99),
  ];
  const sweep = cells.filter(({ protocol }) => protocol === "grpc");
  const byProtocol = cells.filter(
    (cell) => cell.operation === "get_face_vec" && cell.inFlight === PROTOCOLS_IN_FLIGHT,
  );
  return {
    title: "Throughput and latency against concurrency",
    figures: [],
    body: `gRPC on 640x480 photos with one face each, in a closed loop: each client sends its next request when it has the response to the last one. match_faces takes two photos. compare_faces does the same work as match_faces and is not listed.

${formatTable(
  ["operation", "in flight", "requests/s", "p50", "p95", "p99"],
  sweep.map(({ operation, inFlight, speed }) => [operation, inFlight, ...formatSpeed(speed)]),
)}

![Throughput against concurrency](speed-throughput.svg)

![Latency against concurrency](speed-latency.svg)

get_face_vec over each protocol, with ${PROTOCOLS_IN_FLIGHT} requests in flight. \`json\` carries the image as Base64.

${formatTable(
  ["protocol", "requests/s", "p50", "p95", "p99"],
  byProtocol.map(({ protocol, speed }) => [protocol, ...formatSpeed(speed)]),
)}`,
  };
}
