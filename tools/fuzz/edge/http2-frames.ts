/** Frame types of RFC 9113. */
export const FRAME = {
  data: 0,
  headers: 1,
  priority: 2,
  rstStream: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goAway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;

/** Frame flags; ACK and END_STREAM share a bit. */
export const FLAG = { ack: 0x1, endStream: 0x1, endHeaders: 0x4, padded: 0x8, priority: 0x20 } as const;

/** Identifiers of settings. */
export const SETTING = {
  headerTableSize: 1,
  enablePush: 2,
  maxConcurrentStreams: 3,
  initialWindowSize: 4,
  maxFrameSize: 5,
  maxHeaderListSize: 6,
} as const;

/** Error codes of RST_STREAM and GOAWAY. */
export const ERROR_CODE = { noError: 0, protocolError: 1, refusedStream: 7, cancel: 8 } as const;

export const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
const MAX_FRAME_BYTES = 16_384;
const FRAME_HEADER_BYTES = 9;

export type HeaderList = readonly (readonly [name: string, value: string])[];

/** Encodes one frame. The length field can differ from the actual length of the payload. */
export function frame(
  type: number,
  flags: number,
  stream: number,
  payload: Uint8Array = Buffer.alloc(0),
  length = payload.length,
): Buffer {
  const head = Buffer.alloc(FRAME_HEADER_BYTES);
  head.writeUIntBE(length & 0xffffff, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream >>> 0, 5);
  return Buffer.concat([head, payload]);
}

export function settings(values: readonly (readonly [id: number, value: number])[] = []): Buffer {
  const payload = Buffer.alloc(values.length * 6);
  values.forEach(([id, value], i) => {
    payload.writeUInt16BE(id, i * 6);
    payload.writeUInt32BE(value >>> 0, i * 6 + 2);
  });
  return frame(FRAME.settings, 0, 0, payload);
}

export function settingsAck(): Buffer {
  return frame(FRAME.settings, FLAG.ack, 0);
}

export function headers(stream: number, list: HeaderList, flags: number = FLAG.endHeaders): Buffer {
  return frame(FRAME.headers, flags, stream, encodeHeaders(list));
}

/** Encodes DATA frames of at most the default maximum frame size. */
export function data(stream: number, body: Uint8Array, endStream = true): Buffer {
  const frames: Buffer[] = [];
  for (let at = 0; at === 0 || at < body.length; at += MAX_FRAME_BYTES) {
    const isLast = at + MAX_FRAME_BYTES >= body.length;
    const payload = body.subarray(at, at + MAX_FRAME_BYTES);
    frames.push(frame(FRAME.data, isLast && endStream ? FLAG.endStream : 0, stream, payload));
  }
  return Buffer.concat(frames);
}

export function rstStream(stream: number, code: number = ERROR_CODE.cancel): Buffer {
  return frame(FRAME.rstStream, 0, stream, uint32(code));
}

export function windowUpdate(stream: number, increment: number): Buffer {
  return frame(FRAME.windowUpdate, 0, stream, uint32(increment));
}

export function goAway(lastStream: number, code: number = ERROR_CODE.noError): Buffer {
  return frame(FRAME.goAway, 0, 0, Buffer.concat([uint32(lastStream), uint32(code)]));
}

/** Encodes a header block in HPACK, as literals without indexing and without Huffman coding. */
export function encodeHeaders(list: HeaderList): Buffer {
  return Buffer.concat(
    list.flatMap(([name, value]) => [Buffer.from([0]), encodeString(name), encodeString(value)]),
  );
}

function encodeString(text: string): Buffer {
  const bytes = Buffer.from(text, "latin1");
  return Buffer.concat([encodeInteger(bytes.length, 7), bytes]);
}

/** Encodes an integer with a prefix of the given size (RFC 7541, 5.1). The other bits of the first byte are 0. */
function encodeInteger(value: number, prefixBits: number): Buffer {
  const max = 2 ** prefixBits - 1;
  if (value < max) return Buffer.from([value]);
  const bytes = [max];
  let rest = value - max;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push(128 + (rest % 128));
  return Buffer.from([...bytes, rest]);
}

/** Wraps a message in a gRPC or Connect envelope. The length field can differ from the actual length. */
export function envelope(message: Uint8Array, flags = 0, length = message.length): Buffer {
  return Buffer.concat([Buffer.from([flags]), uint32(length), message]);
}

/** One received frame. */
export interface ReceivedFrame {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
  readonly payload: Buffer;
}

/** Parses received bytes into frames. Omits an incomplete frame at the end. */
export function parseFrames(bytes: Buffer): ReceivedFrame[] {
  const frames: ReceivedFrame[] = [];
  for (let at = 0; at + FRAME_HEADER_BYTES <= bytes.length; ) {
    const end = at + FRAME_HEADER_BYTES + bytes.readUIntBE(at, 3);
    if (end > bytes.length) break;
    frames.push({
      type: bytes.readUInt8(at + 3),
      flags: bytes.readUInt8(at + 4),
      stream: bytes.readUInt32BE(at + 5) & 0x7fffffff,
      payload: bytes.subarray(at + FRAME_HEADER_BYTES, end),
    });
    at = end;
  }
  return frames;
}

export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value >>> 0);
  return bytes;
}
