// The life cycle of HTTP/2 streams: resets, frames in the wrong state, many streams, long-lived streams.
import {
  data,
  ERROR_CODE,
  encodeHeaders,
  envelope,
  FLAG,
  FRAME,
  frame,
  goAway,
  type HeaderList,
  headers,
  PREFACE,
  rstStream,
  SETTING,
  settings,
  uint32,
  windowUpdate,
} from "./http2-frames.ts";
import {
  grpcHeaders,
  OPENING,
  probeHeaders,
  requestHeaders,
  restHeaders,
  rpcBody,
  rpcHeaders,
  someUser,
} from "./http2-requests.ts";
import { STREAM_LINES_PATH, STREAM_RPC_PATH, streamLines, streamMessages } from "./image-streams.ts";
import { HEALTH_WATCH, REFLECTION } from "./requests.ts";
import { finish, type Generator, type Step, write } from "./script.ts";

/** The head of a request and RST_STREAM in one TCP segment. */
export const headAndReset: Generator = (random, fixtures) => {
  const streams = 1 + random.below(20);
  const frames = Array.from({ length: streams }, (_, i) => {
    const stream = 2 * i + 1;
    const list = [
      ...random.pick([rpcHeaders, restHeaders])(random, fixtures),
      ...(random.below(2) === 0 ? ([["expect", "100-continue"]] as const) : []),
    ];
    const flags = FLAG.endHeaders | (random.below(4) === 0 ? FLAG.endStream : 0);
    return Buffer.concat([
      headers(stream, list, flags),
      random.below(4) === 0 ? data(stream, rpcBody(random, fixtures), false) : Buffer.alloc(0),
      rstStream(
        stream,
        random.pick([ERROR_CODE.cancel, ERROR_CODE.noError, ERROR_CODE.protocolError, 0xffffffff]),
      ),
    ]);
  });
  return [{ write: Buffer.concat([OPENING, ...frames]) }, ...finish(random)];
};

/** The stream AnalyzeImages over gRPC, Connect or JSON lines, which ends, is reset or is left open. */
export const imageStream: Generator = (random, fixtures) => {
  const isLines = random.below(3) === 0;
  const body = (isLines ? streamLines : streamMessages)(random, fixtures.photo);
  const types = [
    "application/grpc",
    "application/grpc+json",
    "application/connect+proto",
    "application/connect+json",
  ];
  const list: HeaderList = [
    ...requestHeaders("POST", isLines ? STREAM_LINES_PATH : STREAM_RPC_PATH),
    ["content-type", isLines ? "application/x-ndjson" : random.pick(types)],
    ["te", "trailers"],
    ...someUser(random, fixtures),
    ...(random.below(2) === 0 ? ([["grpc-encoding", random.pick(["gzip", "br"])]] as const) : []),
    ...(random.below(6) === 0 ? ([["grpc-timeout", random.pick(["0n", "1m", "99S"])]] as const) : []),
  ];
  const window = random.pick([0, 1, 20, 0xffff, 0xffff]);
  const frames: Buffer[] = [];
  // More would exceed the window of a new stream.
  const sent = body.subarray(0, 0xffff);
  for (let at = 0; at < sent.length; ) {
    const size = 1 + random.below(16_000);
    frames.push(data(1, sent.subarray(at, at + size), false));
    at += size;
  }
  return [
    ...write(random, PREFACE, settings([[SETTING.initialWindowSize, window]]), headers(1, list), ...frames),
    { waitMs: random.below(60) },
    ...random.pick<Step[]>([
      write(random, data(1, Buffer.alloc(0))),
      write(random, data(1, Buffer.alloc(0))),
      write(random, rstStream(1, random.pick([ERROR_CODE.cancel, ERROR_CODE.noError]))),
      write(random, goAway(0, ERROR_CODE.noError)),
      ["reset"],
      ["close"],
      ["halfClose"],
    ]),
  ];
};

/** A valid gRPC call that is reset at any point. */
export const resetCall: Generator = (random, fixtures) => {
  const list = rpcHeaders(random, fixtures);
  const body = rpcBody(random, fixtures);
  const cut = random.below(body.length + 1);
  const reset = rstStream(1, random.pick([ERROR_CODE.cancel, ERROR_CODE.noError]));
  const head = [OPENING, headers(1, list)];
  return random.pick<() => Step[]>([
    () => [...write(random, ...head), { waitMs: random.below(10) }, { write: reset }],
    () => [
      ...write(random, ...head, data(1, body.subarray(0, cut), false)),
      { waitMs: random.below(10) },
      { write: reset },
    ],
    () => [...write(random, ...head, data(1, body)), { waitMs: random.below(30) }, { write: reset }],
    () => [
      // A tiny window keeps the server from completing its response.
      ...write(
        random,
        PREFACE,
        settings([[SETTING.initialWindowSize, random.pick([0, 1, 20])]]),
        headers(1, list),
        data(1, body),
      ),
      { awaitResponseMs: 60 },
      random.pick<Step>([{ write: reset }, "reset", "close", "halfClose"]),
    ],
    () => [
      ...write(random, ...head, data(1, body)),
      { awaitResponseMs: 60 },
      random.pick<Step>([{ write: reset }, "reset", "close"]),
    ],
  ])();
};

/** Frames on streams in the wrong state. */
export const streamStates: Generator = (random, fixtures) => {
  const [open, body] = [headers(1, rpcHeaders(random, fixtures)), data(1, rpcBody(random, fixtures))];
  return [
    ...write(
      random,
      OPENING,
      ...random.pick<() => Buffer[]>([
        () => [data(1, Buffer.from("idle"))],
        () => [open, body, data(1, Buffer.from("closed"))],
        () => [open, rstStream(1), body],
        () => [open, body, open],
        () => [headers(3, rpcHeaders(random, fixtures)), open, body],
        () => [headers(2, rpcHeaders(random, fixtures))],
        () => [headers(0, rpcHeaders(random, fixtures))],
        () => [
          headers(0x7fffffff, rpcHeaders(random, fixtures)),
          headers(0x7ffffffd, rpcHeaders(random, fixtures)),
        ],
        () => [rstStream(1)],
        () => [rstStream(0)],
        () => [open, frame(FRAME.rstStream, 0, 1, Buffer.alloc(3))],
        () => [
          open,
          frame(FRAME.pushPromise, FLAG.endHeaders, 1, Buffer.concat([uint32(2), encodeHeaders([])])),
        ],
        () => [data(0, Buffer.from("connection"))],
        () => [
          frame(random.below(256), random.below(256), random.below(4), Buffer.alloc(random.below(50))),
          open,
          body,
        ],
        () => [frame(FRAME.data, 0, 1, Buffer.alloc(10), 0xffffff)],
        () => [open, ...Array.from({ length: 1_000 }, () => frame(FRAME.data, 0, 1))],
        () => [
          open,
          body,
          rstStream(1),
          rstStream(1),
          windowUpdate(1, 1),
          frame(FRAME.priority, 0, 1, Buffer.alloc(5)),
        ],
        () => [goAway(random.pick([0, 1, 0x7fffffff]), random.pick([0, 1, 11])), open, body],
        () => [open, goAway(0), body, frame(FRAME.goAway, 0, 0, Buffer.alloc(3))],
        () => [open, goAway(1, ERROR_CODE.protocolError)],
      ])(),
    ),
    ...finish(random),
  ];
};

/** Many streams on one connection: completed, open and reset ones in random order. */
export const manyStreams: Generator = (random, fixtures) => {
  const body = rpcBody(random, fixtures);
  const streams = Array.from({ length: random.pick([10, 10, 60, 300]) }, (_, i) => {
    const stream = 2 * i + 1;
    const open = headers(stream, random.pick([rpcHeaders, restHeaders, probeHeaders])(random, fixtures));
    return random.pick([
      () => [open],
      () => [open, rstStream(stream)],
      () => [open, data(stream, body.subarray(0, 20), false)],
      () => [open, data(stream, Buffer.alloc(0))],
    ])();
  });
  return [...write(random, OPENING, ...streams.flat()), ...finish(random)];
};

/** Server-streaming and bidirectional calls that the server keeps open. */
export const longLivedStreams: Generator = (random) => {
  const path = random.pick([HEALTH_WATCH, REFLECTION]);
  const list: HeaderList = grpcHeaders(path);
  const bodies = random.pick([
    [data(1, envelope(Buffer.alloc(0)), true)],
    [
      data(1, envelope(Buffer.from([0x3a, 0x00])), false),
      data(1, envelope(Buffer.from([0x3a, 0x00])), false),
    ],
    [data(1, envelope(Buffer.alloc(5_000, 0x0a)), false)],
    [data(1, envelope(Buffer.from("\x0a\x01x")), false)],
    [],
  ]);
  return [
    ...write(random, OPENING, headers(1, list), ...bodies),
    { awaitResponseMs: 20 },
    ...random.pick<Step[]>([[{ write: rstStream(1) }], ["reset"], ["close"], ["halfClose"], []]),
  ];
};
