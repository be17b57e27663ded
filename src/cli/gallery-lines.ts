// The file of a gallery: a face as JSON in each line, as the service exports it over plain HTTP.
import { createReadStream } from "node:fs";
import type { GalleryFace, NewGalleryFace, Template } from "../client/visage-client.ts";

const CHUNK_BYTES = 256 * 1024;
/** A face has about 3,000 characters. */
const MAX_LINE_LENGTH = 100_000;
const NOT_A_FACE = "is not a face as export writes it";

/** Formats a face as a line. */
export function formatFace({ template, ...face }: GalleryFace): string {
  const { personId, faceId, displayName, createTime, expireTime } = face;
  const embedding = embeddingJson(template);
  const line = { personId, faceId, displayName, embedding, createTime, expireTime };
  return `${JSON.stringify(line)}\n`;
}

/** Creates the JSON of a template. */
export function embeddingJson({ embedding, model }: Template) {
  return { values: [...embedding], model };
}

/** Reads the lines of a file that are not empty, with their numbers. Throws if a line is too long for a face. */
export async function* readFaceLines(
  file: string,
  signal: AbortSignal,
): AsyncGenerator<{ readonly number: number; readonly text: string }> {
  let number = 0;
  let rest = "";
  const chunks = createReadStream(file, { encoding: "utf8", highWaterMark: CHUNK_BYTES, signal });
  for await (const chunk of chunks as AsyncIterable<string>) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop()!;
    for (const text of lines) {
      number++;
      if (text.trim() !== "") yield { number, text };
    }
    if (rest.length > MAX_LINE_LENGTH) throw new Error(`line ${number + 1} ${NOT_A_FACE}`);
  }
  if (rest.trim() !== "") yield { number: number + 1, text: rest };
}

/** Parses a line. Throws an error if it is not a face; the service checks the ids and the template. */
export function parseFace(text: string): NewGalleryFace {
  const face = parseJson(text);
  if (!isObject(face)) throw notAFace();
  const { personId, faceId, displayName, embedding, expireTime } = face;
  const isFace = typeof personId === "string" && isText(faceId) && isText(displayName) && isObject(embedding);
  if (!isFace || !isText(expireTime) || Number.isNaN(Date.parse(expireTime ?? "1970"))) throw notAFace();
  const { values, model } = embedding;
  if (
    typeof model !== "string" ||
    !Array.isArray(values) ||
    !values.every((value) => typeof value === "number")
  )
    throw notAFace();
  return {
    ...{ personId, faceId, displayName },
    template: { embedding: Float32Array.from(values), model },
    ...(expireTime !== undefined && { expireTime: new Date(expireTime) }),
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw notAFace();
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

function isText(value: unknown): value is string | undefined {
  return value === undefined || typeof value === "string";
}

function notAFace(): Error {
  return new Error(NOT_A_FACE);
}
