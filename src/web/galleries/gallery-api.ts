// Calls of the galleries API. Each throws RequestError.
import type { Box } from "../photos/geometry.ts";
import type { Measures } from "../photos/quality-words.ts";
import type { PopulationName } from "../site/populations.ts";
import { callService, type ServiceCall } from "../site/request.ts";
import { type StreamCall, streamService } from "../site/stream-request.ts";
import { ExportedFile } from "./exported-file.ts";

/** A gallery, as the API returns it. */
export interface Gallery {
  readonly galleryId: string;
  readonly displayName: string;
  readonly model: string;
  readonly peopleCount: number;
  readonly faceCount: number;
}

/** An enrolled person. */
export interface Person {
  readonly personId: string;
  readonly displayName: string;
  readonly faces: readonly EnrolledFace[];
}

/** A face of a person. */
export interface EnrolledFace {
  readonly faceId: string;
  readonly createTime: string;
}

/** Who the faces of a photo may be. */
export interface Identification {
  readonly faces: readonly IdentifiedFace[];
  readonly threshold: number;
  /** Missing if the threshold is beyond the measured curve. */
  readonly falsePositiveRate?: number;
  readonly candidatesOnly: boolean;
  readonly stale: boolean;
}

/** Who one face may be, the nearest person first. */
export interface IdentifiedFace extends Measures {
  readonly box: Box;
  readonly matches: readonly PersonMatch[];
  readonly threshold: number;
  /** Missing if the threshold is beyond the measured curve. */
  readonly falsePositiveRate?: number;
  /** For whom the rate holds. */
  readonly population: PopulationName;
  readonly candidatesOnly: boolean;
  /** Such as `CANDIDATES_REASON_POPULATION`. Missing if they are matches. */
  readonly candidatesReason?: string;
}

/** A person whom a face resembles. */
export interface PersonMatch {
  readonly personId: string;
  readonly displayName: string;
  readonly distance: number;
}

/** Says what a deletion has erased. */
export interface Receipt {
  readonly deletions: readonly { readonly galleryId: string; readonly faceCount: number }[];
  readonly erasureFinished: boolean;
}

/** A part of a list. */
export interface Page<Item> {
  readonly items: readonly Item[];
  /** Empty on the last page. */
  readonly nextPageToken: string;
}

/** What a caller may watch and stop. */
export type CallOptions = Pick<ServiceCall, "signal" | "onProgress">;

/** Stands for all galleries of the user in exports and deletions of a person. */
export const ALL_GALLERIES = "-";

/** The largest distance that a search accepts. */
export const MAX_DISTANCE = 0.9;

/** A large file takes the service a while to store. */
const IMPORT_TIMEOUT_MS = 600_000;

export async function listGalleries(pageToken: string, options: CallOptions = {}): Promise<Page<Gallery>> {
  const path = `v1/galleries?${new URLSearchParams({ pageToken })}`;
  type Body = { readonly galleries: readonly Gallery[]; readonly nextPageToken: string };
  const { galleries: items, nextPageToken } = await call<Body>({ path, ...options });
  return { items, nextPageToken };
}

export async function getGallery(galleryId: string, options: CallOptions = {}): Promise<Gallery> {
  const path = pathOf(galleryId);
  return (await call<{ readonly gallery: Gallery }>({ path, ...options })).gallery;
}

export async function createGallery(galleryId: string, displayName: string): Promise<Gallery> {
  const json = { galleryId, displayName };
  return (await call<{ readonly gallery: Gallery }>({ path: "v1/galleries", json })).gallery;
}

export async function renameGallery(galleryId: string, displayName: string): Promise<void> {
  await call({ method: "PATCH", path: pathOf(galleryId), json: { displayName } });
}

export async function deleteGallery(galleryId: string): Promise<void> {
  await call({ method: "DELETE", path: pathOf(galleryId) });
}

export async function listPeople(
  galleryId: string,
  { pageSize, pageToken }: { readonly pageSize: number; readonly pageToken: string },
  options: CallOptions = {},
): Promise<Page<Person>> {
  const query = new URLSearchParams({ pageSize: String(pageSize), pageToken });
  const path = `${pathOf(galleryId)}/people?${query}`;
  type Body = { readonly people: readonly Person[]; readonly nextPageToken: string };
  const { people: items, nextPageToken } = await call<Body>({ path, ...options });
  return { items, nextPageToken };
}

export async function getPerson(galleryId: string, personId: string): Promise<Person> {
  return (await call<{ readonly person: Person }>({ path: pathOf(galleryId, personId) })).person;
}

export async function renamePerson(galleryId: string, personId: string, displayName: string): Promise<void> {
  await call({ method: "PATCH", path: pathOf(galleryId, personId), json: { displayName } });
}

/** Reads everything that is stored about a person, with the templates: one line of JSON for each gallery. */
export function exportPerson(galleryId: string, personId: string): Promise<Blob> {
  return readLines({ path: `${pathOf(galleryId, personId)}:export` });
}

export function deletePerson(galleryId: string, personId: string): Promise<Receipt> {
  return call({ method: "DELETE", path: pathOf(galleryId, personId) });
}

export async function deleteFace(galleryId: string, personId: string, faceId: string): Promise<void> {
  await call({ method: "DELETE", path: `${pathOf(galleryId, personId)}/faces/${faceId}` });
}

/** What to enrol. */
export interface Enrolment {
  readonly galleryId: string;
  readonly personId: string;
  readonly displayName: string;
  readonly skipQualityCheck: boolean;
  /** Whether the face is compared with the person and with other people first. */
  readonly checkPerson: boolean;
  readonly faceId?: string | undefined;
}

/** Enrols the most prominent face of a photo. */
export function enrolFace(
  { galleryId, personId, displayName, skipQualityCheck, checkPerson, faceId }: Enrolment,
  photo: Blob,
  options: CallOptions,
): Promise<Measures & { readonly faceId: string; readonly box: Box }> {
  const body = formWith(photo);
  // Not in the query, which proxies log.
  body.append("displayName", displayName);
  if (skipQualityCheck) body.append("skipQualityCheck", "true");
  if (checkPerson) body.append("checkPerson", "true");
  if (faceId) body.append("faceId", faceId);
  return call({ path: `${pathOf(galleryId, personId)}/faces`, body, ...options });
}

/** Identifies every face of a photo, and measures their quality. */
export function identifyFaces(
  galleryId: string,
  photo: Blob,
  limits: { readonly maxResults: number; readonly maxDistance?: number },
  options: CallOptions,
): Promise<Identification> {
  const fields = Object.entries({ ...limits, quality: true });
  const query = new URLSearchParams(fields.map(([name, value]) => [name, String(value)]));
  return call({ path: `${pathOf(galleryId)}:identify?${query}`, body: formWith(photo), ...options });
}

/** Reads all faces with their templates, one line of JSON each. Reports how many faces have arrived. */
export function exportGallery(
  galleryId: string,
  signal: AbortSignal | undefined,
  onFaces: (count: number) => void,
): Promise<Blob> {
  return readLines({ path: `${pathOf(galleryId)}:export`, signal }, onFaces);
}

/** Enrols the faces of an exported file. Returns their number. */
export async function importFaces(galleryId: string, file: Blob, options: CallOptions = {}): Promise<number> {
  const { faceCount } = await call<{ readonly faceCount: number }>({
    path: `${pathOf(galleryId)}:import`,
    headers: { "content-type": "application/x-ndjson" },
    body: file,
    timeoutMs: IMPORT_TIMEOUT_MS,
    ...options,
  });
  return faceCount;
}

async function call<Body>(serviceCall: ServiceCall): Promise<Body> {
  return (await callService<Body>(serviceCall)).body;
}

async function readLines(
  streamCall: Pick<StreamCall, "path" | "signal">,
  onLines?: (count: number) => void,
): Promise<Blob> {
  const file = new ExportedFile();
  const onChunk = (chunk: Uint8Array<ArrayBuffer>) => {
    file.add(chunk);
    onLines?.(file.lines);
  };
  return file.finish(await streamService({ ...streamCall, onChunk }));
}

/** Ids need no escaping: the service accepts only characters that may stand in a path. */
function pathOf(galleryId: string, personId?: string): string {
  return `v1/galleries/${galleryId}${personId === undefined ? "" : `/people/${personId}`}`;
}

function formWith(photo: Blob): FormData {
  const form = new FormData();
  form.append("source", photo, "photo");
  return form;
}
