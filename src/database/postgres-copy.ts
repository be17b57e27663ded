import { type Connection, escapeLiteral, type PoolClient, type Submittable } from "pg";
import type { ByteRow, Statement } from "./sql-database.ts";

/** Before the rows: the signature of the format, its flags and the length of an extension, which no version has. */
const HEADER_BYTES = 11 + 4 + 4;

/**
 * Runs a query whose columns are text or bytes by `COPY`. The driver reads the rows of other statements as text, so that
 * bytes take twice as long to send and several times as long to read.
 */
export async function copyRows(client: PoolClient, { sql, values = [] }: Statement): Promise<ByteRow[]> {
  // COPY takes no parameters.
  const query = sql.replaceAll(/\$(\d)/g, (_, number: string) => {
    const value = values[Number(number) - 1];
    return typeof value === "number" ? String(value) : escapeLiteral(value as string);
  });
  return rowsFrom(
    await new Promise<Buffer>((resolve, reject) => {
      client.query(
        new CopyQuery(`copy (${query}) to stdout (format binary)`, (error, chunks) =>
          error ? reject(error) : resolve(Buffer.concat(chunks)),
        ),
      );
    }),
  );
}

/** A query of the driver, which calls these methods. */
class CopyQuery implements Submittable {
  /** The driver replaces it to end its timer. */
  callback: (error: Error | null, chunks: Buffer[]) => void;
  readonly #sql: string;
  readonly #chunks: Buffer[] = [];

  constructor(sql: string, callback: (error: Error | null, chunks: Buffer[]) => void) {
    this.#sql = sql;
    this.callback = callback;
  }

  submit(connection: Connection): void {
    connection.query(this.#sql);
  }

  handleCopyData({ chunk }: { readonly chunk: Buffer }): void {
    // The driver uses its buffer again.
    this.#chunks.push(Buffer.from(chunk));
  }

  handleCommandComplete(): void {}

  handleReadyForQuery(): void {
    this.callback(null, this.#chunks);
  }

  handleError(error: Error): void {
    this.callback(error, []);
  }
}

/** Parses the binary format: for each row the number of columns, and for each column its length and its bytes. */
function rowsFrom(data: Buffer): ByteRow[] {
  const rows: ByteRow[] = [];
  let at = HEADER_BYTES;
  for (;;) {
    const columns = data.readInt16BE(at);
    at += 2;
    if (columns < 0) return rows;
    const row: (Uint8Array | undefined)[] = [];
    for (let i = 0; i < columns; i++) {
      const length = data.readInt32BE(at);
      at += 4;
      row.push(length < 0 ? undefined : data.subarray(at, at + length));
      at += Math.max(0, length);
    }
    rows.push(row);
  }
}
