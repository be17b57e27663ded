import { errorFromJson, type ResponseHead } from "../site/request-error.ts";

/** From this size on, bytes are handed over to the browser, which keeps large files on disk. */
const PART_BYTES = 4 * 1024 * 1024;
/** An error at the end is within these bytes. */
const TAIL_BYTES = 64 * 1024;
const NEWLINE = 10;

/** Collects the lines of an export. The page itself holds only the last part of them. */
export class ExportedFile {
  readonly #parts: Blob[] = [];
  #chunks: Uint8Array<ArrayBuffer>[] = [];
  #bytes = 0;
  #lines = 0;

  /** How many lines are complete. */
  get lines(): number {
    return this.#lines;
  }

  add(chunk: Uint8Array<ArrayBuffer>): void {
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, at + 1)) this.#lines++;
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes >= PART_BYTES) this.#handOver();
  }

  /** Returns the whole file. Throws RequestError if the service ended the export with an error. */
  async finish(head: ResponseHead): Promise<Blob> {
    this.#handOver();
    const file = new Blob(this.#parts, { type: "application/x-ndjson" });
    const tail = await file.slice(-TAIL_BYTES).text();
    const lastLine = tail.trimEnd().split("\n").at(-1)!;
    if (lastLine.startsWith('{"error":')) throw errorFromJson(head, JSON.parse(lastLine).error);
    return file;
  }

  #handOver(): void {
    this.#parts.push(new Blob(this.#chunks));
    this.#chunks = [];
    this.#bytes = 0;
  }
}
