// REST requests to galleries, whose paths have variables: valid ids between hostile ones.
import { readCalibration } from "../../../src/core/index.ts";
import type { Random } from "../../support/random.ts";

/** A request to a gallery. Its path is bytes as latin1. */
export interface GalleryRequest {
  readonly method: string;
  readonly path: string;
  readonly body: Buffer;
}

// biome-ignore format: a table
const HOSTILE_IDS = [
  "a.b~c_d-e", "x".repeat(128), "x".repeat(129), "x".repeat(7_000), "%67", "a%2Fb", "%2F", "%2f%2e%2e",
  "%00", "g%00", "%0A", "g%0a", "%0d%0aSet-Cookie:a", "..", ".", "%2e%2e", "%2E", "...", "%", "%2", "%zz", "%ff%fe", "%C3%A9", "\xc3\xa9",
  "%F0%9F%98%80", "%ED%A0%80", "%c0%af", "%EF%BB%BF", "%u0041", "g%3Aidentify", "g:identify", "g:export:import", ":", "g:", "%25", "%2525",
  "*", "{gallery_id}", "__proto__", "constructor", "toString", "null", "undefined", "NaN", "0", "-1", "1e999", "'", "%27%3B--", "%22", "%5C",
  "%60", "$1", "$%7Bx%7D", ";", "g;v=1", "@", "+", "%20", "g%20", "%09", "%7F", "%E2%80%AE", "~", "-", "_", "", "galleries", "people", "faces",
];

const EMBEDDING = { model: readCalibration().model, values: Array(128).fill(0.45 / Math.sqrt(128)) };

const METHODS = ["GET", "POST", "PATCH", "DELETE", "PUT", "HEAD", "OPTIONS"];

/** The operations; an asterisk is an id. */
// biome-ignore format: a table
const OPERATIONS = [
  "POST /v1/galleries", "GET /v1/galleries", "GET /v1/galleries/*", "PATCH /v1/galleries/*", "DELETE /v1/galleries/*",
  "POST /v1/galleries/*:identify", "POST /v1/galleries/*:identify", "GET /v1/galleries/*:export", "POST /v1/galleries/*:import",
  "GET /v1/galleries/*/people", "GET /v1/galleries/*/people/*", "PATCH /v1/galleries/*/people/*", "DELETE /v1/galleries/*/people/*",
  "POST /v1/galleries/*/people/*/faces", "DELETE /v1/galleries/*/people/*/faces/*", "GET /v1/galleries/*:*", "POST /v1/galleries//people/*/faces/",
];

// biome-ignore format: a table
const QUERIES = [
  "", "", "", "?page_size=1000", "?pageSize=-1", "?pageSize=1e9", "?pageToken=%00", "?page_token=Li4", "?galleryId=other", "?person_id=%00",
  "?maxResults=101", "?maxDistance=NaN", "?maxDistance=1e-40", "?display_name=%ff", "?%00=1", "?__proto__=1", `?a=${"b&a=".repeat(600)}`,
];

/** A random request to galleries. About every tenth is valid. */
export function galleryRequest(random: Random): GalleryRequest {
  const [method, template] = random.pick(OPERATIONS).split(" ") as [string, string];
  const path = template.replaceAll("*", () => randomId(random));
  return {
    method: random.below(6) === 0 ? random.pick(METHODS) : method,
    path: path + random.pick(QUERIES),
    body: random.below(3) === 0 ? randomBody(random) : suitableBody(path),
  };
}

function randomId(random: Random): string {
  return random.below(3) === 0 ? random.pick(HOSTILE_IDS) : random.pick(["g", "p"]);
}

/** The body of a valid request to a path. */
function suitableBody(path: string): Buffer {
  if (path.endsWith(":import"))
    return Buffer.from(`${JSON.stringify({ personId: "p", embedding: EMBEDDING })}\n`);
  if (/:identify$|\/faces$/.test(path))
    return Buffer.from(JSON.stringify({ source: { embedding: EMBEDDING } }));
  return Buffer.from('{"galleryId":"g"}');
}

function randomBody(random: Random): Buffer {
  const embedding = EMBEDDING;
  return random.pick([
    () => Buffer.alloc(0),
    () => Buffer.from('{"galleryId":"g"}'),
    () =>
      Buffer.from(
        JSON.stringify({ galleryId: random.pick(HOSTILE_IDS), displayName: random.pick(HOSTILE_IDS) }),
      ),
    () => Buffer.from(JSON.stringify({ source: { embedding } })),
    () => Buffer.from(JSON.stringify({ source: { embedding: { ...embedding, values: [1e39, null] } } })),
    () => Buffer.from(JSON.stringify({ source: { embedding, box: {} }, maxResults: 1e10 })),
    () =>
      Buffer.from(
        `${JSON.stringify({ personId: random.pick(HOSTILE_IDS), embedding })}\n`.repeat(random.below(20)),
      ),
    () => Buffer.from("{}\n[\n".repeat(random.below(1_000))),
    () => Buffer.from([...Array(random.below(300))].map(() => random.below(256))),
  ])();
}
