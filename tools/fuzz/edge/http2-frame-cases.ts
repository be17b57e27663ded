// Malformed and abusive HTTP/2 framing: preface, SETTINGS, header blocks, padding, priority, flow control, PING.
import { mutate } from "../mutate.ts";
import {
  data,
  encodeHeaders,
  encodeInteger,
  FLAG,
  FRAME,
  frame,
  headers,
  PREFACE,
  rstStream,
  SETTING,
  settings,
  settingsAck,
  uint32,
  windowUpdate,
} from "./http2-frames.ts";
import { OPENING, rpcBody, rpcHeaders } from "./http2-requests.ts";
import { finish, type Generator, type Step, write } from "./script.ts";

export const preface: Generator = (random, fixtures) => {
  const request = headers(1, rpcHeaders(random, fixtures));
  return random.pick<() => Step[]>([
    () => [...PREFACE].flatMap((byte): Step[] => [{ write: Buffer.from([byte]) }, { waitMs: 0 }]),
    () => write(random, PREFACE.subarray(0, random.below(PREFACE.length)), request),
    () => write(random, PREFACE, PREFACE),
    // Without the SETTINGS frame that must come first.
    () => write(random, PREFACE, request),
    () =>
      write(
        random,
        mutate(PREFACE, random, { dictionary: [Buffer.from("\r\n")], corpus: [OPENING] }),
        settings(),
      ),
    () => write(random, "PRI * HTTP/2.0\r\nHost: a\r\n\r\nSM\r\n\r\n", settings()),
  ])();
};

export const settingsFrames: Generator = (random, fixtures) => {
  const values = [0, 1, 100, 16_383, 16_384, 65_535, 0xffffff, 0x1000000, 0x7fffffff, 0x80000000, 0xffffffff];
  const ids = [...Object.values(SETTING), 0, 7, 8, 0xffff];
  const some = () =>
    settings(
      Array.from({ length: 1 + random.below(5) }, () => [random.pick(ids), random.pick(values)] as const),
    );
  const request = Buffer.concat([
    headers(1, rpcHeaders(random, fixtures)),
    data(1, rpcBody(random, fixtures)),
  ]);
  return [
    ...write(
      random,
      ...random.pick<() => Buffer[]>([
        () => [PREFACE, some(), request],
        () => [PREFACE, settings(), request, some(), some()],
        () => [
          PREFACE,
          settings(),
          ...Array.from({ length: random.pick([20, 300, 2_000]) }, () => settings()),
        ],
        () => [OPENING, ...Array.from({ length: random.pick([2, 100]) }, () => settingsAck()), request],
        () => [PREFACE, frame(FRAME.settings, 0, 1, Buffer.alloc(6)), request],
        () => [PREFACE, frame(FRAME.settings, 0, 0, Buffer.alloc(5)), request],
        () => [PREFACE, frame(FRAME.settings, FLAG.ack, 0, Buffer.alloc(6)), request],
        () => [
          PREFACE,
          settings(Array.from({ length: 2_000 }, () => [random.pick(ids), 1] as const)),
          request,
        ],
        () => [
          PREFACE,
          settings([[SETTING.initialWindowSize, 0]]),
          request,
          settings([[SETTING.initialWindowSize, 0x7fffffff]]),
          windowUpdate(1, 0x7fffffff),
        ],
        () => [PREFACE, settings([[SETTING.headerTableSize, random.pick(values)]]), request, some(), request],
      ])(),
    ),
    ...finish(random),
  ];
};

/** Header blocks in several frames: interleaved, endless, incomplete. */
export const continuation: Generator = (random, fixtures) => {
  const block = encodeHeaders([
    ...rpcHeaders(random, fixtures),
    ["x", "y".repeat(random.pick([1, 500, 20_000]))],
  ]);
  const pieceBytes = Math.ceil(block.length / (1 + random.below(8)));
  const pieces = Array.from({ length: Math.ceil(block.length / pieceBytes) }, (_, i) =>
    block.subarray(i * pieceBytes, (i + 1) * pieceBytes),
  );
  const body = data(1, rpcBody(random, fixtures));
  const first = frame(FRAME.headers, 0, 1, pieces[0]);
  const rest = pieces.slice(1).map((piece) => frame(FRAME.continuation, 0, 1, piece));
  const last = frame(FRAME.continuation, FLAG.endHeaders, 1);
  return [
    ...write(
      random,
      OPENING,
      ...random.pick<() => Buffer[]>([
        () => [first, ...rest, last, body],
        () => [first, ...rest],
        () => [first, body],
        () => [first, frame(FRAME.ping, 0, 0, Buffer.alloc(8)), ...rest, last],
        () => [first, frame(FRAME.continuation, 0, 3, pieces[0]), last],
        () => [frame(FRAME.continuation, FLAG.endHeaders, 1, block)],
        () => [headers(1, rpcHeaders(random, fixtures)), last, body],
        () => [first, ...Array.from({ length: 2_000 }, () => frame(FRAME.continuation, 0, 1))],
        () => [
          first,
          ...Array.from({ length: 60 }, (_, i) =>
            frame(FRAME.continuation, 0, 1, encodeHeaders([[`x${i}`, "y".repeat(15_000)]])),
          ),
        ],
        () => [first, rstStream(1), last],
        () => [first, ...rest, frame(FRAME.continuation, 0xff, 1)],
      ])(),
    ),
    ...finish(random),
  ];
};

/** Corrupted header blocks. */
export const hpack: Generator = (random, fixtures) => {
  const block = encodeHeaders(rpcHeaders(random, fixtures));
  const broken = random.pick([
    () =>
      mutate(block, random, {
        dictionary: [Buffer.from([0x80]), Buffer.from([0xff, 0xff]), Buffer.from([0x3f, 0xe1, 0x1f])],
        corpus: [block],
      }),
    // An index beyond both tables.
    () =>
      Buffer.concat([
        encodeInteger(random.below(10_000), 7).map((byte, i) => (i === 0 ? byte | 0x80 : byte)),
        block,
      ]),
    () => Buffer.from([0x7f, ...Array.from({ length: 20 }, () => 0xff)]),
    () => Buffer.concat([Buffer.from([0x3f, 0xff, 0xff, 0xff, 0x7f]), block]),
    // A string that is longer than the block.
    () => Buffer.concat([block, Buffer.from([0, 0x7f, 0xff, 0xff, 0x7f])]),
    // Invalid Huffman codes.
    () => Buffer.concat([block, Buffer.from([0, 0x84, 0xff, 0xff, 0xff, 0xff, 0x84, 0, 0, 0, 0])]),
    // One large entry in the dynamic table and many references to it.
    () =>
      Buffer.concat([
        block,
        Buffer.from([0x40, 1, 0x78]),
        encodeInteger(4_000, 7),
        Buffer.alloc(4_000, "y"),
        Buffer.alloc(8_000, 0xbe),
      ]),
    () => Buffer.alloc(random.below(200), random.below(256)),
    () => Buffer.from(Array.from({ length: random.below(200) }, () => random.below(256))),
  ])();
  return [
    ...write(
      random,
      OPENING,
      frame(FRAME.headers, FLAG.endHeaders, 1, broken),
      data(1, rpcBody(random, fixtures)),
      headers(3, rpcHeaders(random, fixtures)),
      data(3, rpcBody(random, fixtures)),
    ),
    ...finish(random),
  ];
};

export const padding: Generator = (random, fixtures) => {
  const block = encodeHeaders(rpcHeaders(random, fixtures));
  const body = rpcBody(random, fixtures).subarray(0, 10_000);
  const padded = (content: Uint8Array, length: number, real = length) =>
    Buffer.concat([Buffer.from([length]), content, Buffer.alloc(Math.max(0, real))]);
  const pad = random.below(256);
  const real = random.pick([pad, pad, 0, pad - 1]);
  const tooLong = random.below(3) === 0;
  const dataFrames = Array.from({ length: random.pick([1, 1, 50]) }, () =>
    frame(
      FRAME.data,
      FLAG.padded,
      1,
      tooLong ? Buffer.from([255, 1, 2]) : padded(Buffer.alloc(0), pad, real),
    ),
  );
  return [
    ...write(
      random,
      OPENING,
      frame(
        FRAME.headers,
        FLAG.endHeaders | FLAG.padded,
        1,
        padded(block, pad, random.pick([pad, pad, pad, real])),
      ),
      ...dataFrames,
      frame(FRAME.data, FLAG.padded | FLAG.endStream, 1, padded(body, pad, real)),
    ),
    ...finish(random),
  ];
};

export const priority: Generator = (random, fixtures) => {
  const payload = (on: number) => Buffer.concat([uint32(on), Buffer.from([random.below(256)])]);
  const block = encodeHeaders(rpcHeaders(random, fixtures));
  return [
    ...write(
      random,
      OPENING,
      ...random.pick<() => Buffer[]>([
        () =>
          Array.from({ length: random.pick([5, 2_000]) }, (_, i) =>
            frame(FRAME.priority, 0, 2 * i + 1, payload(i)),
          ),
        () => [frame(FRAME.priority, 0, 1, payload(1))],
        () => [frame(FRAME.priority, 0, 0, payload(1))],
        () => [frame(FRAME.priority, 0, 1, Buffer.alloc(4))],
        () => [
          frame(
            FRAME.headers,
            FLAG.endHeaders | FLAG.priority,
            1,
            Buffer.concat([payload(0x80000000), block]),
          ),
        ],
        () => [frame(FRAME.headers, FLAG.endHeaders | FLAG.priority, 1, Buffer.concat([payload(1), block]))],
        () => [frame(FRAME.headers, FLAG.endHeaders | FLAG.priority, 1, Buffer.alloc(3))],
      ])(),
      data(1, rpcBody(random, fixtures)),
    ),
    ...finish(random),
  ];
};

export const flowControl: Generator = (random, fixtures) => {
  const request = [headers(1, rpcHeaders(random, fixtures)), data(1, rpcBody(random, fixtures))];
  const opening = [PREFACE, settings([[SETTING.initialWindowSize, random.pick([0, 1, 65_535])]])];
  return [
    ...write(
      random,
      ...opening,
      ...random.pick<() => Buffer[]>([
        () => [windowUpdate(0, 0x7fffffff), ...request],
        () => [windowUpdate(0, 0), ...request],
        () => [...request, windowUpdate(1, 0)],
        () => [...request, windowUpdate(1, 0x7fffffff), windowUpdate(1, 0x7fffffff)],
        () => [...request, ...Array.from({ length: 500 }, () => windowUpdate(1, 1))],
        () => [windowUpdate(5, 10), ...request],
        () => [frame(FRAME.windowUpdate, 0, 0, Buffer.alloc(3)), ...request],
        () => [...request, windowUpdate(2, 5)],
        // More than the server's receive window, without waiting for WINDOW_UPDATE.
        () => [headers(1, rpcHeaders(random, fixtures)), data(1, Buffer.alloc(200_000), false)],
      ])(),
    ),
    ...finish(random),
  ];
};

export const pings: Generator = (random, fixtures) => {
  const ping = frame(FRAME.ping, 0, 0, Buffer.alloc(8));
  return [
    ...write(
      random,
      OPENING,
      ...random.pick<() => Buffer[]>([
        () => Array.from({ length: random.pick([1, 100, 5_000]) }, () => ping),
        () => [frame(FRAME.ping, 0, 0, Buffer.alloc(7))],
        () => [frame(FRAME.ping, 0, 1, Buffer.alloc(8))],
        () => [frame(FRAME.ping, FLAG.ack, 0, Buffer.alloc(8))],
      ])(),
      headers(1, rpcHeaders(random, fixtures)),
      data(1, rpcBody(random, fixtures)),
    ),
    ...finish(random),
  ];
};
