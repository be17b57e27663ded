import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import type { DescMessage } from "@bufbuild/protobuf";
import { compressedFlag, encodeEnvelope } from "@connectrpc/connect/protocol";
import { binaryFromJson, checkJson } from "../rest/json-message.ts";
import { ServiceError } from "../service/service-error.ts";
import type { Body } from "./body.ts";
import type { BodyLease } from "./byte-budget.ts";
import { requestErrorFrom } from "./errors.ts";
import { LIMITS } from "./limits.ts";
import { checkProtobuf } from "./protobuf-scan.ts";
import type { RequestContext } from "./request-context.ts";

/** The size of the envelope header before every gRPC and gRPC-Web message: one byte of flags, four of length. */
export const ENVELOPE_HEADER_BYTES = 5;

/** A request message that Connect can parse. */
export interface PreparedMessage {
  /** The whole body, with its envelope where the protocol has one. */
  readonly body: Uint8Array;
  /** Whether JSON was converted to binary, so that the response has to be converted to JSON. */
  readonly isConverted: boolean;
}

/** What preparing a message needs to know of its request. */
type MessageContext = Pick<RequestContext, "protocol" | "signal">;

/**
 * Prepares the one message of a unary call for Connect: decompresses it, checks it against the parse limits, and
 * converts large JSON to binary. Changes `header` to match. Throws ServiceError or RestError for a message that is
 * malformed or beyond a limit.
 */
export async function prepareMessage(
  { protocol, signal }: MessageContext,
  schema: DescMessage,
  body: Body,
  header: Headers,
  maxBytes: number,
): Promise<PreparedMessage> {
  if (protocol !== "connect") {
    const envelope = { encoding: takeEncoding(header, "grpc-encoding"), isJson: isJson(header), schema };
    header.delete("content-length");
    return { body: await prepareEnvelope(body, envelope, signal, maxBytes), isConverted: false };
  }
  const { bytes, lease } = body;
  const isCompressed = takeEncoding(header, "content-encoding") === "gzip";
  const content = isCompressed ? await decompress(bytes, lease, signal, maxBytes) : bytes;
  lease.complete();
  if (isCompressed) header.delete("content-length");
  if (isJson(header) && content.length > LIMITS.plainJsonBytes) return convertJson(content, schema, header);
  await checkContent(content, schema, isJson(header));
  return { body: content, isConverted: false };
}

/**
 * Prepares the messages of a stream for Connect like `prepareMessage`, one at a time. Calls `onMessage` with the lease
 * of each message before Connect parses it. Changes `header` at once. Throws ServiceError for an unsupported encoding, and
 * later for a message that is malformed or beyond a limit.
 */
export function prepareMessages(
  { protocol, signal }: MessageContext,
  schema: DescMessage,
  frames: AsyncIterable<Body>,
  header: Headers,
  { maxBytes, onMessage }: { readonly maxBytes: number; readonly onMessage: (lease: BodyLease) => void },
): AsyncIterable<Uint8Array> {
  const encodingHeader = protocol === "connect" ? "connect-content-encoding" : "grpc-encoding";
  const envelope = { encoding: takeEncoding(header, encodingHeader), isJson: isJson(header), schema };
  return (async function* () {
    for await (const frame of frames) {
      onMessage(frame.lease);
      yield await prepareEnvelope(frame, envelope, signal, maxBytes).catch((fault: unknown) => {
        throw requestErrorFrom(fault);
      });
    }
  })();
}

/** Removes the header with the encoding of the messages. Throws ServiceError for an encoding that is not supported. */
function takeEncoding(header: Headers, name: string): "identity" | "gzip" {
  const encoding = header.get(name) ?? "identity";
  if (encoding !== "identity" && encoding !== "gzip") throw new ServiceError("unsupportedEncoding");
  header.delete(name);
  return encoding;
}

function isJson(header: Headers): boolean {
  return /json/.test(header.get("content-type") ?? "");
}

/** How the messages of a request are encoded. */
interface EnvelopeFormat {
  readonly encoding: "identity" | "gzip";
  readonly isJson: boolean;
  readonly schema: DescMessage;
}

/** Prepares a message in an envelope. Returns the envelope without compression. */
async function prepareEnvelope(
  { bytes, lease }: Body,
  { encoding, isJson, schema }: EnvelopeFormat,
  signal: AbortSignal,
  maxBytes: number,
): Promise<Uint8Array> {
  const message = openEnvelope(bytes);
  if (message.isCompressed && encoding !== "gzip")
    throw new ServiceError("badRequest", "The message is compressed in an encoding that is not named.");
  const content = message.isCompressed
    ? await decompress(message.content, lease, signal, maxBytes)
    : message.content;
  lease.complete();
  if (isJson && content.length > LIMITS.plainJsonBytes) {
    const text = `A JSON message is larger than ${LIMITS.plainJsonBytes} bytes.`;
    throw new ServiceError("requestTooLarge", text);
  }
  await checkContent(content, schema, isJson);
  return message.isCompressed ? encodeEnvelope(0, content) : bytes;
}

async function checkContent(content: Buffer, schema: DescMessage, isJson: boolean): Promise<void> {
  if (isJson) await checkJson(content, schema);
  else checkProtobuf(content, schema);
}

/** Reads the envelope of the one message in the body of a unary call. */
function openEnvelope(body: Buffer): { readonly content: Buffer; readonly isCompressed: boolean } {
  const isWhole =
    body.length >= ENVELOPE_HEADER_BYTES && body.readUInt32BE(1) === body.length - ENVELOPE_HEADER_BYTES;
  const flags = body[0] ?? 0;
  if (!isWhole || (flags & ~compressedFlag) !== 0)
    throw new ServiceError("badRequest", "The request must hold exactly one message.");
  return { content: body.subarray(ENVELOPE_HEADER_BYTES), isCompressed: flags === compressedFlag };
}

const gunzipAsync = promisify(gunzip);

/**
 * Decompresses gzip. The last four bytes announce the decompressed size, which is charged to the byte budget first. A
 * message that turns out to be larger is rejected.
 */
async function decompress(
  bytes: Buffer,
  lease: BodyLease,
  signal: AbortSignal,
  maxBytes: number,
): Promise<Buffer> {
  if (bytes.length === 0) return bytes;
  const size = bytes.length < 4 ? 0 : bytes.readUInt32LE(bytes.length - 4);
  if (size > maxBytes)
    throw new ServiceError("requestTooLarge", `The request is larger than ${maxBytes} bytes.`);
  const charged = lease.charge(size, signal);
  if (charged !== true) await charged;
  try {
    return await gunzipAsync(bytes, { maxOutputLength: Math.max(1, size) });
  } catch (cause) {
    throw new ServiceError("badRequest", "The message cannot be decompressed.", { cause });
  }
}

/** Converts a large JSON message to binary: Connect's own JSON parser would block the event loop for too long. */
async function convertJson(json: Buffer, schema: DescMessage, header: Headers): Promise<PreparedMessage> {
  header.set("content-type", "application/proto");
  header.delete("content-length");
  // The response is converted to JSON, for which it must not be compressed.
  header.delete("accept-encoding");
  const body = await binaryFromJson(json, schema);
  checkProtobuf(body, schema);
  return { body, isConverted: true };
}
