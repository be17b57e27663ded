import { setImmediate } from "node:timers/promises";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { GalleryService } from "../../gen/ts/visage/v1/gallery_pb.ts";
import { readCalibration } from "../../src/core/index.ts";
import { GalleryIndex } from "../../src/galleries/gallery-index.ts";
import { formatMs, formatTable } from "../../tools/support/format.ts";
import { Progress } from "../../tools/support/progress.ts";
import { type ServiceProcess, USER } from "../../tools/support/service-process.ts";
import { mean, quantile } from "../../tools/support/statistics.ts";
import { ENROLMENT_GALLERY } from "../load/load.ts";
import type { Photos } from "../load/photos.ts";
import type { Chapter } from "../report.ts";
import { clusteredTemplates } from "../templates.ts";
import { type EnrolmentRound, measureEnrolment } from "./enrolment.ts";
import { formatRatio, type Ratio, ratioOfMeans } from "./ratio.ts";
import { nearestRow } from "./search.ts";

/** The longest that 95 % of the searches may take, by the number of templates. */
const TARGET_MS: Readonly<Record<number, number>> = { 1000: 5, 100000: 15, 1000000: 100 };
const MIN_ENROLMENT_RATIO = 0.9;
const DIMENSIONS = 128;
const QUERIES = 100;
/** Calls in flight when the throughput is measured. */
const IN_FLIGHT = 8;
/** The threshold of galleries that are too large for a verdict. */
const MAX_DISTANCE = 0.5;
const PROGRESS_STEPS = 10;
const MODEL = readCalibration().model;

/** The length of a measurement. */
export interface GalleriesLength {
  /** Numbers of templates. */
  readonly sizes: readonly number[];
  /** Rounds of enrolment. */
  readonly rounds: number;
}

/** What was measured in a gallery of one size. Durations in milliseconds. */
export interface GallerySpeed {
  readonly templates: number;
  /** Templates per second. */
  readonly imported: number;
  readonly scanMs: readonly number[];
  readonly searchMs: readonly number[];
  readonly callMs: readonly number[];
  readonly callsPerSecond: number;
}

export interface GallerySpeeds {
  readonly galleries: readonly GallerySpeed[];
  readonly enrolment: readonly EnrolmentRound[];
}

/** Measures identification in galleries of several sizes, and enrolment beside get_face_vec. */
export async function measureGalleries(
  service: ServiceProcess,
  photos: Photos,
  { sizes, rounds }: GalleriesLength,
): Promise<GallerySpeeds> {
  const client = openClient(service);
  await client.createGallery({ galleryId: ENROLMENT_GALLERY });
  const enrolment = await measureEnrolment(service, photos, rounds);
  await client.deleteGallery({ galleryId: ENROLMENT_GALLERY });
  const galleries: GallerySpeed[] = [];
  for (const templates of sizes) galleries.push(await measureGallery(client, templates));
  return { galleries, enrolment };
}

type Client = ReturnType<typeof openClient>;

function openClient({ port }: ServiceProcess) {
  const transport = createGrpcTransport({
    baseUrl: `http://127.0.0.1:${port}`,
    interceptors: [
      (next) => (request) => {
        request.header.set("x-api-key", USER);
        return next(request);
      },
    ],
  });
  return createClient(GalleryService, transport);
}

/** The templates of a gallery in this process, and queries for people in it. */
class LocalGallery {
  readonly index = new GalleryIndex("bench");
  readonly rows: Float32Array;
  readonly queries: Float32Array[] = [];

  constructor(count: number) {
    this.rows = new Float32Array(count * DIMENSIONS);
  }

  /** Adds a template to everything but the gallery of the service. */
  add(personId: string, vector: Float32Array): void {
    this.rows.set(vector, DIMENSIONS * this.index.faces);
    this.index.add({ personId, faceId: "f", embedding: vector });
  }
}

async function measureGallery(client: Client, templates: number): Promise<GallerySpeed> {
  const galleryId = `bench-${templates}`;
  const gallery = new LocalGallery(templates);
  await client.createGallery({ galleryId });
  const startMs = performance.now();
  await client.importFaces(importedFaces(galleryId, gallery, templates));
  const imported = (1000 * templates) / (performance.now() - startMs);
  const { index, rows, queries } = gallery;
  const identify = async (query: Float32Array) => {
    const { faces } = await client.identifyFaces({
      galleryId,
      source: { source: { case: "embedding", value: { values: [...query], model: MODEL } } },
      maxDistance: MAX_DISTANCE,
    });
    return faces[0]!.matches[0]?.personId;
  };
  // The first call reads the gallery into memory.
  for (const query of queries)
    if ((await identify(query)) !== idOf(nearestRow(rows, query)))
      throw new Error("The service did not find the nearest person.");
  const speed = {
    templates,
    imported,
    scanMs: await timesOf(queries, async (query) => nearestRow(rows, query)),
    searchMs: await timesOf(queries, async (query) => index.findCandidates(query, 1, MAX_DISTANCE)),
    callMs: await timesOf(queries, identify),
    callsPerSecond: await throughputOf(queries, identify),
  };
  await client.deleteGallery({ galleryId });
  return speed;
}

/** The faces of an import. Each person has two templates: one is enrolled, the first ones of the others are queries. */
async function* importedFaces(galleryId: string, gallery: LocalGallery, count: number) {
  const progress = new Progress(`${count} templates`, PROGRESS_STEPS);
  let isQuery = false;
  for (const vector of clusteredTemplates(count, 2, 1)) {
    if (isQuery) {
      if (gallery.queries.length < QUERIES) gallery.queries.push(vector);
    } else {
      const personId = idOf(gallery.index.faces);
      gallery.add(personId, vector);
      yield { galleryId, personId, faceId: "f", embedding: { values: [...vector], model: MODEL } };
      if (gallery.index.faces % (count / PROGRESS_STEPS) === 0) progress.step();
    }
    isQuery = !isQuery;
  }
}

function idOf(row: number): string {
  return `p${row}`;
}

async function timesOf(
  queries: readonly Float32Array[],
  search: (query: Float32Array) => Promise<unknown>,
): Promise<number[]> {
  const times: number[] = [];
  for (const query of queries) {
    const startMs = performance.now();
    await search(query);
    times.push(performance.now() - startMs);
    // A client that answers no pings for long is taken for lost.
    await setImmediate();
  }
  return times;
}

/** Searches per second with several in flight. */
async function throughputOf(
  queries: readonly Float32Array[],
  search: (query: Float32Array) => Promise<unknown>,
): Promise<number> {
  const startMs = performance.now();
  const waiting = queries.values();
  await Promise.all(
    Array.from({ length: IN_FLIGHT }, async () => {
      for (const query of waiting) await search(query);
    }),
  );
  return (1000 * queries.length) / (performance.now() - startMs);
}

/** The slowest search relative to its target. */
export function identifyTimeToTarget({ galleries }: GallerySpeeds): number {
  return Math.max(...galleries.map(({ templates, searchMs }) => p95(searchMs) / TARGET_MS[templates]!));
}

/** Throughput of enrolment divided by that of get_face_vec. */
export function enrolmentRatio(rounds: readonly EnrolmentRound[]): Ratio {
  return ratioOfMeans(rounds.map(({ enrol_face, get_face_vec }) => [enrol_face, get_face_vec]));
}

function p95(times: readonly number[]): number {
  return quantile(times, 0.95);
}

/** Reports the speed of identification and enrolment. */
export function galleriesChapter({ galleries, enrolment }: GallerySpeeds): Chapter {
  const ratio = enrolmentRatio(enrolment);
  const range = (times: readonly number[]) => `${formatMs(quantile(times, 0.5))} / ${formatMs(p95(times))}`;
  const rate = (operation: keyof EnrolmentRound) =>
    mean(enrolment.map((round) => round[operation])).toFixed(1);
  return {
    title: "Galleries",
    figures: [
      ...galleries.map(({ templates, searchMs, scanMs }) => ({
        name: `search of a gallery of ${templates.toLocaleString("en")} templates, one thread, 95th percentile`,
        measured: `${formatMs(p95(searchMs))} (plain scan: ${formatMs(p95(scanMs))})`,
        target: `≤ ${TARGET_MS[templates]} ms`,
        isMet: p95(searchMs) <= TARGET_MS[templates]!,
      })),
      {
        name: "throughput of EnrolFace with photos / get_face_vec",
        measured: formatRatio(ratio),
        target: `≥ ${MIN_ENROLMENT_RATIO} within its standard error`,
        isMet: ratio.ratio + ratio.standardError >= MIN_ENROLMENT_RATIO,
      },
    ],
    body: `One synthetic template for each person; ${QUERIES} queries with another template of an enrolled person, at most ${MAX_DISTANCE} away. Every query found the same person as a plain scan. Durations are medians and 95th percentiles.

- **search**: the nearest person in the index of a gallery, in one thread.
- **plain scan**: a loop over the templates in one array, in the same thread.
- **IdentifyFaces**: whole calls with an embedding over gRPC, one after another; then calls per second with ${IN_FLIGHT} in flight. One process searches all galleries.
- **ImportFaces**: templates per second of the import that made the gallery.

${formatTable(
  ["templates", "search", "plain scan", "IdentifyFaces", "calls/s", "ImportFaces"],
  galleries.map(({ templates, searchMs, scanMs, callMs, callsPerSecond, imported }) => [
    templates.toLocaleString("en"),
    range(searchMs),
    range(scanMs),
    range(callMs),
    callsPerSecond.toFixed(0),
    `${Math.round(imported).toLocaleString("en")}/s`,
  ]),
)}

EnrolFace with a 640x480 photo of one face, a new person each time, and get_face_vec with the same photo took turns over gRPC in ${enrolment.length} rounds: ${rate("enrol_face")} and ${rate("get_face_vec")} photos per second.`,
  };
}
