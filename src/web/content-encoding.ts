import { brotliCompressSync, constants, gzipSync } from "node:zlib";

/** The compressed encodings that files are served in, the smallest first. */
export const COMPRESSIONS = ["br", "gzip"] as const;

export type Compression = (typeof COMPRESSIONS)[number];

/** The suffix of a file that the build has compressed. */
export const SUFFIXES: Readonly<Record<Compression, string>> = { br: ".br", gzip: ".gz" };

/** Fast enough for the start of the service, and a few percent larger than what the build compresses. */
const QUALITY = 5;

/** Compresses a file that the build has not compressed. */
export function compress(bytes: Buffer, compression: Compression): Buffer {
  if (compression === "gzip") return gzipSync(bytes, { level: QUALITY });
  return brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: QUALITY } });
}

/** Chooses the encoding that the client prefers (RFC 9110, 12.5.3), and the smallest of equally preferred ones. */
export function chooseEncoding(acceptEncoding: string | undefined): Compression | "identity" {
  const qualities = parseQualities(acceptEncoding ?? "");
  const qualityOf = (name: string) => qualities.get(name) ?? qualities.get("*") ?? 0;
  const [best] = COMPRESSIONS.toSorted((one, other) => qualityOf(other) - qualityOf(one));
  const isAccepted = qualityOf(best!) > 0 && qualityOf(best!) >= (qualities.get("identity") ?? 0);
  return isAccepted ? best! : "identity";
}

function parseQualities(header: string): ReadonlyMap<string, number> {
  const items = header.toLowerCase().split(",");
  return new Map(items.map(parseItem).filter(([name]) => name));
}

function parseItem(item: string): [name: string, quality: number] {
  const [name = "", ...parameters] = item.split(";").map((part) => part.trim());
  const weight = parameters.find((parameter) => parameter.startsWith("q="));
  const quality = weight === undefined ? 1 : Number(weight.slice(2));
  return [name, Number.isNaN(quality) ? 0 : quality];
}
