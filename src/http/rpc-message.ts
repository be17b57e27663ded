import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import type { DescMessage } from "@bufbuild/protobuf";
import { compressedFlag, encodeEnvelope } from "@connectrpc/connect/protocol";
import { binaryFromJson } from "../rest/json-message.ts";
import { checkJson } from "../rest/json-scan.ts";
import { ServiceError } from "../service/service-error.ts";
import type { Body } from "./body.ts";
import type { BodyLease } from "./byte-budget.ts";
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

/**
 * Prepares the one message of a unary call for Connect: decompresses it, checks it against the parse limits, and
 * converts large JSON to binary. Changes `header` to match. Throws ServiceError or RestError for a message that is
 * malformed or beyond a limit.
 */
export async function prepareMessage(
  { protocol, signal }: Pick<RequestContext, "protocol" | "signal">,
  schema: DescMessage,
  { bytes: body, lease }: Body,
  header: Headers,
  maxBytes: number,
): Promise<PreparedMessage> {
  const isEnveloped = protocol !== "connect";
  const encodingHeader = isEnveloped ? "grpc-encoding" : "content-encoding";
  const encoding = header.get(encodingHeader) ?? "identity";
  if (encoding !== "identity" && encoding !== "gzip") throw new ServiceError("unsupportedEncoding");
  header.delete(encodingHeader);
  const message = isEnveloped ? openEnvelope(body) : { content: body, isCompressed: encoding === "gzip" };
  if (message.isCompressed && encoding !== "gzip")
    throw new ServiceError("badRequest", "The message is compressed in an encoding that is not named.");
  const content = message.isCompressed
    ? await decompress(message.content, lease, signal, maxBytes)
    : message.content;
  lease.complete();
  const isJson = /json/.test(header.get("content-type") ?? "");
  if (isJson && content.length > LIMITS.plainJsonBytes) {
    if (!isEnveloped) return convertJson(content, schema, header);
    const message = `A JSON message is larger than ${LIMITS.plainJsonBytes} bytes.`;
    throw new ServiceError("requestTooLarge", message);
  }
  if (isJson) await checkJson(content);
  else checkProtobuf(content, schema);
  if (!message.isCompressed) return { body, isConverted: false };
  header.delete("content-length");
  return { body: isEnveloped ? encodeEnvelope(0, content) : content, isConverted: false };
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
 * message that turns out to be larger is rejected. Completes the lease before it decompresses: an eviction would free
 * the charge while the memory is still in use.
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
  lease.complete();
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
