import { gzipSync } from "node:zlib";
import { mutate } from "../mutate.ts";
import type { Random } from "../random.ts";
import {
  data,
  ERROR_CODE,
  encodeHeaders,
  encodeInteger,
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
  settingsAck,
  uint32,
  windowUpdate,
} from "./http2-frames.ts";
import {
  HEALTH_CHECK,
  HEALTH_WATCH,
  json,
  MULTIPART_TYPE,
  multipart,
  OPERATIONS,
  PATHS,
  REFLECTION,
  RPC_TYPES,
  TIMEOUTS,
} from "./requests.ts";
import { finish, type Generator, type Material, type Step, write } from "./script.ts";

/** What a well-behaved client sends first. */
const OPENING = Buffer.concat([PREFACE, settings(), settingsAck()]);

/** 40 MiB of zeros, beyond the largest message, in 40 KB. */
const BOMB = gzipSync(Buffer.alloc(40 * 1024 * 1024));
/** The same, as the content of an unknown Protobuf field. */
const PROTOBUF_BOMB = gzipSync(
  Buffer.concat([Buffer.from([0xfa, 0x01]), varint(40 * 1024 * 1024), Buffer.alloc(40 * 1024 * 1024)]),
);

// biome-ignore format: a table
const AUTHORITIES = [
  "", " ", "[", "[]", "[::1", "[::1]:80", "a b", ":99999", "a:99999", "a:b", "a/b", "a@b", "\xe9", "a\\b", "%", "a,b", "^", "|",
  "x".repeat(4_000), "<script>", "a..b", "1.2.3.4.5", "\0", "a\r\nb",
];
// biome-ignore format: a table
const ODD_PATHS = [
  "", "*", "a", "//", "//host/readyz", "?", "/?", "/%", "/%00", "/ ", "/a b", "/\0", "/\xe9", "http://a/readyz", "http://[/", "/..",
  "\\", "/readyz#x", `/${"a".repeat(8_000)}`, "/get_face_vec?bboxes=%", "/face.v1.FaceService/GetFaceVec/", "/get_face_vec?",
];
const ODD_METHODS = [
  "",
  "GET",
  "HEAD",
  "OPTIONS",
  "CONNECT",
  "TRACE",
  "PUT",
  "get",
  "P OST",
  "\0",
  "X".repeat(500),
  "\xff",
];
const SCHEMES = ["", "https", "ftp", "HTTP", "javascript", "\0", "h ttp"];
// biome-ignore format: a table
const FORBIDDEN_HEADERS: HeaderList = [
  ["connection", "close"], ["transfer-encoding", "chunked"], ["upgrade", "h2c"], ["keep-alive", "1"], ["proxy-connection", "x"],
  ["te", "gzip"], ["Upper-Case", "x"], ["", "x"], [":unknown", "x"], ["a b", "c"], ["a", "\r\n"], ["a", "\0"], ["host", "["],
  ["host", "other"], ["content-length", "5"], ["content-length", "-1"], ["content-length", "99999999999999999999"], ["cookie", ""],
  ["expect", "100-continue"], ["expect", "x"], ["user_id", "\xff"], ["user_id", ""], ["grpc-encoding", "br"], ["content-encoding", "gzip"],
  ["origin", "null"], ["x-request-id", "\xff"], ["traceparent", "\0"], ["accept-encoding", "\0"],
];

/** A valid RPC with any content type, envelope and timeout, and sometimes with a fault in one of them. */
const rpc: Generator = (random, material) => {
  const body = rpcBody(random, material);
  const list = [...rpcHead(random, material), ...rpcExtras(random)];
  return [...write(random, OPENING, headers(1, list), data(1, body)), ...finish(random)];
};

/** The head of a request and RST_STREAM in one TCP segment. */
const headAndReset: Generator = (random, material) => {
  const streams = 1 + random.below(20);
  const frames = Array.from({ length: streams }, (_, i) => {
    const stream = 2 * i + 1;
    const list = [
      ...random.pick([rpcHead, restHead])(random, material),
      ...(random.below(2) === 0 ? ([["expect", "100-continue"]] as const) : []),
    ];
    const flags = FLAG.endHeaders | (random.below(4) === 0 ? FLAG.endStream : 0);
    return Buffer.concat([
      headers(stream, list, flags),
      random.below(4) === 0 ? data(stream, rpcBody(random, material), false) : Buffer.alloc(0),
      rstStream(
        stream,
        random.pick([ERROR_CODE.cancel, ERROR_CODE.noError, ERROR_CODE.protocolError, 0xffffffff]),
      ),
    ]);
  });
  return [{ write: Buffer.concat([OPENING, ...frames]) }, ...finish(random)];
};

/** A valid gRPC call that is reset at any point. */
const resetCall: Generator = (random, material) => {
  const list = rpcHead(random, material);
  const body = rpcBody(random, material);
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
      // With a window of no bytes the answer cannot be sent to its end.
      ...write(
        random,
        PREFACE,
        settings([[SETTING.initialWindowSize, random.pick([0, 1, 20])]]),
        headers(1, list),
        data(1, body),
      ),
      { awaitAnswerMs: 60 },
      random.pick<Step>([{ write: reset }, "reset", "close", "halfClose"]),
    ],
    () => [
      ...write(random, ...head, data(1, body)),
      { awaitAnswerMs: 60 },
      random.pick<Step>([{ write: reset }, "reset", "close"]),
    ],
  ])();
};

const preface: Generator = (random, material) => {
  const request = headers(1, rpcHead(random, material));
  return random.pick<() => Step[]>([
    () => [...PREFACE].flatMap((byte): Step[] => [{ write: Buffer.from([byte]) }, { waitMs: 0 }]),
    () => write(random, PREFACE.subarray(0, random.below(PREFACE.length)), request),
    () => write(random, PREFACE, PREFACE),
    // Without the SETTINGS frame that has to come first.
    () => write(random, PREFACE, request),
    () =>
      write(
        random,
        mutate(PREFACE, random, { tokens: [Buffer.from("\r\n")], others: [OPENING] }),
        settings(),
      ),
    () => write(random, "PRI * HTTP/2.0\r\nHost: a\r\n\r\nSM\r\n\r\n", settings()),
  ])();
};

const settingsGames: Generator = (random, material) => {
  const values = [0, 1, 100, 16_383, 16_384, 65_535, 0xffffff, 0x1000000, 0x7fffffff, 0x80000000, 0xffffffff];
  const ids = [...Object.values(SETTING), 0, 7, 8, 0xffff];
  const some = () =>
    settings(
      Array.from({ length: 1 + random.below(5) }, () => [random.pick(ids), random.pick(values)] as const),
    );
  const request = Buffer.concat([headers(1, rpcHead(random, material)), data(1, rpcBody(random, material))]);
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
const continuation: Generator = (random, material) => {
  const block = encodeHeaders([
    ...rpcHead(random, material),
    ["x", "y".repeat(random.pick([1, 500, 20_000]))],
  ]);
  const pieceBytes = Math.ceil(block.length / (1 + random.below(8)));
  const pieces = Array.from({ length: Math.ceil(block.length / pieceBytes) }, (_, i) =>
    block.subarray(i * pieceBytes, (i + 1) * pieceBytes),
  );
  const body = data(1, rpcBody(random, material));
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
        () => [headers(1, rpcHead(random, material)), last, body],
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
const hpack: Generator = (random, material) => {
  const block = encodeHeaders(rpcHead(random, material));
  const broken = random.pick([
    () =>
      mutate(block, random, {
        tokens: [Buffer.from([0x80]), Buffer.from([0xff, 0xff]), Buffer.from([0x3f, 0xe1, 0x1f])],
        others: [block],
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
      data(1, rpcBody(random, material)),
      headers(3, rpcHead(random, material)),
      data(3, rpcBody(random, material)),
    ),
    ...finish(random),
  ];
};

const padding: Generator = (random, material) => {
  const block = encodeHeaders(rpcHead(random, material));
  const body = rpcBody(random, material).subarray(0, 10_000);
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

const priority: Generator = (random, material) => {
  const payload = (on: number) => Buffer.concat([uint32(on), Buffer.from([random.below(256)])]);
  const block = encodeHeaders(rpcHead(random, material));
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
      data(1, rpcBody(random, material)),
    ),
    ...finish(random),
  ];
};

const windows: Generator = (random, material) => {
  const request = [headers(1, rpcHead(random, material)), data(1, rpcBody(random, material))];
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
        () => [headers(1, rpcHead(random, material)), data(1, Buffer.alloc(200_000), false)],
      ])(),
    ),
    ...finish(random),
  ];
};

const pings: Generator = (random, material) => {
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
      headers(1, rpcHead(random, material)),
      data(1, rpcBody(random, material)),
    ),
    ...finish(random),
  ];
};

/** Frames on streams in the wrong state. */
const streamStates: Generator = (random, material) => {
  const [open, body] = [headers(1, rpcHead(random, material)), data(1, rpcBody(random, material))];
  return [
    ...write(
      random,
      OPENING,
      ...random.pick<() => Buffer[]>([
        () => [data(1, Buffer.from("idle"))],
        () => [open, body, data(1, Buffer.from("closed"))],
        () => [open, rstStream(1), body],
        () => [open, body, open],
        () => [headers(3, rpcHead(random, material)), open, body],
        () => [headers(2, rpcHead(random, material))],
        () => [headers(0, rpcHead(random, material))],
        () => [
          headers(0x7fffffff, rpcHead(random, material)),
          headers(0x7ffffffd, rpcHead(random, material)),
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

const trailers: Generator = (random, material) => {
  const body = data(1, rpcBody(random, material), false);
  const trailer = random.pick<HeaderList>([
    [["x", "y"]],
    [["grpc-status", "0"]],
    [[":path", "/"]],
    [["content-length", "1"]],
    [],
    [["x", "y".repeat(20_000)]],
    [["user_id", material.user]],
  ]);
  const flags = FLAG.endHeaders | random.pick([FLAG.endStream, FLAG.endStream, 0]);
  return [
    ...write(
      random,
      OPENING,
      headers(1, rpcHead(random, material)),
      ...random.pick([[body], [], [body, body]]),
      headers(1, trailer, flags),
    ),
    ...finish(random),
  ];
};

/** Malformed, missing and repeated pseudo-headers, and headers that HTTP/2 forbids. */
const head: Generator = (random, material) => {
  const list = [...random.pick([rpcHead, restHead, probeHead])(random, material)].map(
    (one) => [...one] as [string, string],
  );
  for (let changes = 1 + random.below(3); changes > 0; changes--) {
    const replace = (name: string, values: readonly string[]) => {
      const found = list.find(([known]) => known === name);
      if (found) found[1] = random.pick(values);
    };
    random.pick([
      () => replace(":authority", AUTHORITIES),
      () => replace(":path", ODD_PATHS),
      () => replace(":method", ODD_METHODS),
      () => replace(":scheme", SCHEMES),
      () => list.splice(random.below(list.length), 1),
      () => list.push([...random.pick(list.length > 0 ? list : [["a", "b"] as [string, string]])]),
      () => list.splice(random.below(list.length + 1), 0, [...random.pick(FORBIDDEN_HEADERS)]),
      () => list.push([":authority", "a"]),
      () => list.push([":protocol", "websocket"]),
      () => list.reverse(),
    ])();
  }
  const isWhole = random.below(2) === 0;
  return [
    ...write(
      random,
      OPENING,
      headers(1, list, FLAG.endHeaders | (isWhole ? FLAG.endStream : 0)),
      isWhole ? Buffer.alloc(0) : data(1, rpcBody(random, material)),
    ),
    ...finish(random),
  ];
};

/** Compressed messages: beyond all limits, mislabelled, or broken. */
const compression: Generator = (random, material) => {
  const message = random.pick(OPERATIONS).message(material.photo);
  const body = random.pick([
    envelope(BOMB, 1),
    envelope(PROTOBUF_BOMB, 1),
    envelope(gzipSync(message), 1),
    envelope(gzipSync(message), 0),
    envelope(message, 1),
    envelope(gzipSync(message).subarray(0, -10), 1),
    envelope(Buffer.alloc(0), 1),
  ]);
  const encoding = random.pick<HeaderList>([
    [["grpc-encoding", "gzip"]],
    [["grpc-encoding", "gzip"]],
    [],
    [["grpc-encoding", "br"]],
    [["grpc-encoding", "identity"]],
    [["content-encoding", "gzip"]],
  ]);
  const path = random.pick([HEALTH_CHECK, REFLECTION, random.pick(OPERATIONS).rpcPath]);
  return [
    ...write(
      random,
      PREFACE,
      settings(),
      headers(1, [...grpcHead(path), ...someUser(random, material), ...encoding]),
      data(1, body),
    ),
    ...finish(random),
  ];
};

/** REST over HTTP/2. */
const rest: Generator = (random, material) => {
  const operation = random.pick(OPERATIONS);
  const [type, body] = random.pick([
    [MULTIPART_TYPE, multipart(operation, material.photo)],
    ["application/json", json(operation, material.photo)],
  ] as const);
  const list = [
    ...headFor("POST", random.pick([operation.path, random.pick(PATHS)])),
    ["content-type", type] as const,
    ...someUser(random, material),
  ];
  const cut = random.pick([body.length, body.length, random.below(body.length)]);
  return [
    ...write(random, OPENING, headers(1, list), data(1, body.subarray(0, cut), cut === body.length)),
    ...finish(random),
  ];
};

/** Many streams on one connection: complete, open and reset ones in any order. */
const manyStreams: Generator = (random, material) => {
  const body = rpcBody(random, material);
  const streams = Array.from({ length: random.pick([10, 10, 60, 300]) }, (_, i) => {
    const stream = 2 * i + 1;
    const open = headers(stream, random.pick([rpcHead, restHead, probeHead])(random, material));
    return random.pick([
      () => [open],
      () => [open, rstStream(stream)],
      () => [open, data(stream, body.subarray(0, 20), false)],
      () => [open, data(stream, Buffer.alloc(0))],
    ])();
  });
  return [...write(random, OPENING, ...streams.flat()), ...finish(random)];
};

/** Streams that stay open on the server's side. */
const watch: Generator = (random) => {
  const path = random.pick([HEALTH_WATCH, REFLECTION]);
  const list: HeaderList = grpcHead(path);
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
    { awaitAnswerMs: 20 },
    ...random.pick<Step[]>([[{ write: rstStream(1) }], ["reset"], ["close"], ["halfClose"], []]),
  ];
};

/** A valid exchange with random bytes changed. */
const mutated: Generator = (random, material) => {
  const bytes = Buffer.concat([
    settings([[SETTING.initialWindowSize, 65_535]]),
    headers(1, rpcHead(random, material)),
    data(1, rpcBody(random, material)),
    headers(3, probeHead(random), FLAG.endHeaders | FLAG.endStream),
  ]);
  const tokens = [
    settingsAck(),
    rstStream(1),
    windowUpdate(0, 1),
    frame(FRAME.ping, 0, 0, Buffer.alloc(8)),
    goAway(0),
  ];
  return [
    ...write(random, PREFACE, mutate(bytes, random, { tokens, others: [OPENING, bytes] })),
    ...finish(random),
  ];
};

export const HTTP2_GENERATORS: readonly (readonly [name: string, generator: Generator])[] = Object.entries({
  rpc,
  headAndReset,
  resetCall,
  preface,
  settingsGames,
  continuation,
  hpack,
  padding,
  priority,
  windows,
  pings,
  streamStates,
  trailers,
  head,
  compression,
  rest,
  manyStreams,
  watch,
  mutated,
});

function headFor(method: string, path: string): HeaderList {
  return [
    [":method", method],
    [":scheme", "http"],
    [":path", path],
    [":authority", "a"],
  ];
}

function grpcHead(path: string): HeaderList {
  return [...headFor("POST", path), ["content-type", "application/grpc"], ["te", "trailers"]];
}

function rpcHead(random: Random, material: Material): HeaderList {
  const path = random.pick([random.pick(OPERATIONS).rpcPath, random.pick(OPERATIONS).rpcPath, HEALTH_CHECK]);
  return [...grpcHead(path), ...someUser(random, material)];
}

function restHead(random: Random, material: Material): HeaderList {
  return [
    ...headFor("POST", random.pick(OPERATIONS).path),
    ["content-type", MULTIPART_TYPE],
    ...someUser(random, material),
  ];
}

function probeHead(random: Random): HeaderList {
  return headFor("GET", random.pick(PATHS));
}

/** A timeout, an encoding or another protocol's content type. */
function rpcExtras(random: Random): HeaderList {
  return random.pick<() => HeaderList>([
    () => [],
    () => [["grpc-timeout", random.pick(TIMEOUTS)]],
    () => [["content-type", random.pick(RPC_TYPES)]],
    () => [["grpc-encoding", "gzip"]],
    () => [["connect-timeout-ms", random.pick(["0", "9".repeat(30), "x"])]],
  ])();
}

/** A gRPC body: valid more often than not, otherwise with a wrong envelope or message. */
function rpcBody(random: Random, { photo }: Material): Buffer {
  const message = random.pick(OPERATIONS).message(photo);
  const valid = envelope(message);
  return random.pick<() => Buffer>([
    () => valid,
    () => valid,
    () => valid,
    () => valid,
    () => valid.subarray(0, random.below(valid.length)),
    () =>
      envelope(
        message,
        0,
        random.pick([0, 1, message.length - 1, message.length + 1, 0x7fffffff, 0xffffffff]),
      ),
    () => envelope(message, random.below(256)),
    () => Buffer.concat([valid, valid]),
    () => Buffer.concat([valid, Buffer.from([0])]),
    () =>
      envelope(
        mutate(message, random, { tokens: [Buffer.from([0xff, 0xff, 0xff, 0xff, 0x0f])], others: [message] }),
      ),
  ])();
}

/** No user, an unknown one, or most often a known one. */
function someUser(random: Random, { user }: Material): HeaderList {
  return random.pick<HeaderList>([
    [["user_id", user]],
    [["user_id", user]],
    [["user_id", "unknown-user"]],
    [],
  ]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push(128 + (rest % 128));
  return Buffer.from([...bytes, rest]);
}
