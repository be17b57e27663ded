import {
  FRAME,
  type HeaderList,
  PREFACE,
  parseFrames,
  SETTING,
  settings,
  settingsAck,
} from "../../tools/fuzz/edge/http2-frames.ts";
import { USER } from "../../tools/support/service-process.ts";

/** The initial flow-control window of HTTP/2 connections and streams. */
export const INITIAL_WINDOW = 0xffff;

/** A POST that a test sends as raw bytes. */
export interface RawPost {
  readonly path: string;
  readonly type: string;
  readonly user?: string;
}

/** The head of a POST over HTTP/1.1, with the length of its body or in chunks. */
export function http1PostHead({ path, type, user = USER }: RawPost, bodyLength: number | "chunked"): Buffer {
  const framing = bodyLength === "chunked" ? "Transfer-Encoding: chunked" : `Content-Length: ${bodyLength}`;
  const lines = [`POST ${path} HTTP/1.1`, "Host: a", `user_id: ${user}`, `Content-Type: ${type}`, framing];
  return Buffer.from(`${lines.join("\r\n")}\r\n\r\n`);
}

/** The headers of a POST over HTTP/2. */
export function http2PostHeaders({ path, type, user = USER }: RawPost, extra: HeaderList = []): HeaderList {
  return [
    [":method", "POST"],
    [":scheme", "http"],
    [":path", path],
    [":authority", "a"],
    ["content-type", type],
    ["te", "trailers"],
    ["user_id", user],
    ...extra,
  ];
}

/** The first bytes of an HTTP/2 client. `window` limits what the server may send on each stream. */
export function http2Opening(window = INITIAL_WINDOW): Buffer {
  return Buffer.concat([PREFACE, settings([[SETTING.initialWindowSize, window]]), settingsAck()]);
}

/** The bytes that a server has admitted so far on the connection and on a stream. */
export interface AdmittedBytes {
  readonly connection: number;
  onStream(stream: number): number;
}

/** Reads from the frames of a server how much its flow control has admitted. */
export function admittedBytes(received: Buffer): AdmittedBytes {
  let initialWindow = INITIAL_WINDOW;
  const updates = new Map<number, number>();
  for (const { type, stream, flags, payload } of parseFrames(received)) {
    if (type === FRAME.windowUpdate)
      updates.set(stream, (updates.get(stream) ?? 0) + payload.readUInt32BE(0));
    if (type === FRAME.settings && flags === 0)
      for (let at = 0; at < payload.length; at += 6)
        if (payload.readUInt16BE(at) === SETTING.initialWindowSize)
          initialWindow = payload.readUInt32BE(at + 2);
  }
  return {
    connection: INITIAL_WINDOW + (updates.get(0) ?? 0),
    onStream: (stream) => initialWindow + (updates.get(stream) ?? 0),
  };
}
