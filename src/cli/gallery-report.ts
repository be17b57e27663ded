import type { Gallery, Person } from "../client/visage-client.ts";
import { formatTable, replaceControlCharacters } from "./format.ts";

const GALLERY_COLUMNS = ["gallery", "name", "people", "faces", "threshold", "created", "expires"];
const PERSON_COLUMNS = ["person", "name", "faces", "enrolled", "expires"];
/** The service has thresholds in single precision. */
const DECIMALS = 4;

/** Formats galleries as a table. */
export function formatGalleries(galleries: readonly Gallery[]): string {
  if (galleries.length === 0) return "There are no galleries.";
  const rows = galleries.map((gallery) => [
    gallery.galleryId,
    replaceControlCharacters(gallery.displayName),
    `${gallery.peopleCount}`,
    `${gallery.faceCount}`,
    formatThreshold(gallery),
    formatDate(gallery.createTime),
    formatDate(gallery.expireTime),
  ]);
  return formatTable(GALLERY_COLUMNS, rows, ["gallery", "name", "created", "expires"]).join("\n");
}

/** Formats one gallery. */
export function formatGallery(gallery: Gallery): string {
  const lines = [
    ["gallery", gallery.galleryId],
    ...(gallery.alias ? [["alias", gallery.alias]] : []),
    ["name", replaceControlCharacters(gallery.displayName)],
    ["people", `${gallery.peopleCount}`],
    ["faces", `${gallery.faceCount}`],
    ["threshold", formatThreshold(gallery)],
    ["model", gallery.readOnly ? `${gallery.model} (earlier; read-only)` : gallery.model],
    ["revision", `${gallery.revision}`],
    ["created", gallery.createTime.toISOString()],
    ["expires", gallery.expireTime?.toISOString() ?? "never"],
  ];
  return lines.map(([title, value]) => `${title!.padEnd(11)}${value}`.trimEnd()).join("\n");
}

/** Formats people as a table. */
export function formatPeople(people: readonly Person[]): string {
  if (people.length === 0) return "The gallery is empty.";
  const rows = people.map(({ personId, displayName, faces, createTime, expireTime }) => [
    personId,
    replaceControlCharacters(displayName),
    `${faces.length}`,
    formatDate(createTime),
    formatDate(expireTime),
  ]);
  return formatTable(PERSON_COLUMNS, rows, ["person", "name", "enrolled", "expires"]).join("\n");
}

/** Creates the JSON of a gallery. */
export function createGalleryReport({ maxDistance, expireTime, ...gallery }: Gallery) {
  const threshold = maxDistance === undefined ? null : round(maxDistance);
  return { ...gallery, maxDistance: threshold, expireTime: expireTime ?? null };
}

function formatThreshold({ maxDistance }: Gallery): string {
  return maxDistance === undefined ? "automatic" : `${round(maxDistance)}`;
}

function round(value: number): number {
  return Number(value.toFixed(DECIMALS));
}

/** Formats the day of a time in UTC; no time is never. */
export function formatDate(date: Date | undefined): string {
  return date?.toISOString().slice(0, 10) ?? "never";
}
