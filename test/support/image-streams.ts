import { type ClientRequest, request as requestHttp1 } from "node:http";
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  type IncomingHttpHeaders,
} from "node:http2";
import { request as requestHttps } from "node:https";
import { connect as connectSocket, type Socket } from "node:net";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { connect as connectTls } from "node:tls";
import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import { StatusSchema } from "../../gen/ts/google/rpc/status_pb.ts";
import {
  AnalyzeImagesRequestSchema,
  AnalyzeImagesResponseSchema,
  FaceAnalysisService,
} from "../../gen/ts/visage/v1/face_analysis_pb.ts";
import { reasonOf } from "./typed-clients.ts";

export const GRPC_PATH = `/${FaceAnalysisService.typeName}/AnalyzeImages`;
export const LINES_PATH = "/v1/images:analyzeStream";
const ENVELOPE_HEADER_BYTES = 5;

/** What a stream answers to an image: the number of its faces, or the reason of its error. */
export type Answer = readonly [key: string, result: number | string];

/** Options of a stream. */
export interface ImageStreamOptions {
  readonly port: number;
  readonly user: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly isTls?: boolean;
  /** The flow-control window of an HTTP/2 stream: how much the service may send while the client does not read. */
  readonly window?: number;
}

/** A stream of AnalyzeImages whose client decides when to send, to read and to leave. */
export interface ImageStream {
  /** The answers so far. */
  readonly answers: readonly Answer[];
  /** Resolves when the stream has ended: to `ok`, to the reason of its error, or to `lost` if it has no end. */
  readonly ended: Promise<string>;
  /** Sends an image. Returns whether the client may send more without filling its own buffer. */
  send(key: string, image: Uint8Array): boolean;
  /** Sends bytes of the body as they are. */
  write(bytes: Uint8Array | string): boolean;
  /** Ends the body. */
  end(): void;
  /** Stops reading the response. */
  pause(): void;
  resume(): void;
  /** Calls back when the client may send more. */
  onDrain(callback: () => void): void;
  /** Closes the connection. */
  close(): void;
  /** Closes the connection with a TCP reset. */
  reset(): void;
  /** Ends the client's side of the connection. */
  halfClose(): void;
  /** Cancels the request: over HTTP/2 without closing the connection. */
  cancel(): void;
}

/** The bytes of a message to a gRPC stream. */
export function grpcMessage(message: MessageInitShape<typeof AnalyzeImagesRequestSchema>): Uint8Array {
  return encodeEnvelope(0, toBinary(AnalyzeImagesRequestSchema, create(AnalyzeImagesRequestSchema, message)));
}

/** The message that has an image analysed. */
export function imageMessage(
  key: string,
  content: Uint8Array,
): MessageInitShape<typeof AnalyzeImagesRequestSchema> {
  return { key, request: { image: { source: { case: "content", value: content } } } };
}

/** The line that has an image analysed. */
export function imageLine(key: string, image: Uint8Array): string {
  return `${JSON.stringify({ key, request: { image: Buffer.from(image).toString("base64") } })}\n`;
}

/** Opens a stream over each protocol and version of HTTP. */
export const OPEN_STREAM: Readonly<Record<string, (options: ImageStreamOptions) => ImageStream>> = {
  gRPC: openGrpcStream,
  "JSON lines over HTTP/1.1": openLinesHttp1,
  "JSON lines over HTTP/2": openLinesHttp2,
};

function originOf({ port, isTls = false }: ImageStreamOptions): string {
  return `${isTls ? "https" : "http"}://127.0.0.1:${port}`;
}

export function openGrpcStream(options: ImageStreamOptions): ImageStream {
  const answers: Answer[] = [];
  const connection = openHttp2(options, GRPC_PATH, "application/grpc");
  const { stream } = connection;
  let outcome: string | undefined;
  const readStatus = (headers: IncomingHttpHeaders) => {
    if (headers["grpc-status"] !== undefined) outcome = outcomeOf(headers);
  };
  let received = Buffer.alloc(0);
  stream.on("response", readStatus).on("trailers", readStatus);
  stream.on("data", (part: Buffer) => {
    received = Buffer.concat([received, part]);
    for (;;) {
      const size = received.length < ENVELOPE_HEADER_BYTES ? Infinity : received.readUInt32BE(1);
      const end = ENVELOPE_HEADER_BYTES + size;
      if (end > received.length) return;
      const bytes = received.subarray(ENVELOPE_HEADER_BYTES, end);
      received = received.subarray(end);
      const { key, result } = fromBinary(AnalyzeImagesResponseSchema, bytes);
      answers.push([key, result.case === "response" ? result.value.faces.length : reasonOf(result.value!)]);
    }
  });
  return {
    ...http2Controls(connection, answers, () => outcome),
    send: (key, image) => stream.write(grpcMessage(imageMessage(key, image))),
  };
}

/** The outcome in the trailers of gRPC: the reason in the status details, or else the code. */
function outcomeOf(headers: IncomingHttpHeaders): string {
  if (headers["grpc-status"] === "0") return "ok";
  const details = headers["grpc-status-details-bin"];
  if (details === undefined) return `code ${headers["grpc-status"]} without details`;
  return reasonOf(fromBinary(StatusSchema, Buffer.from(String(details), "base64")));
}

function openLinesHttp2(options: ImageStreamOptions): ImageStream {
  const connection = openHttp2(options, LINES_PATH, "application/x-ndjson");
  const { stream } = connection;
  const reader = new LineReader(stream);
  return {
    ...http2Controls(connection, reader.answers, () => reader.outcome),
    send: (key, image) => stream.write(imageLine(key, image)),
  };
}

/** A request on a connection of its own. */
interface Http2Connection {
  readonly socket: Socket;
  readonly session: ClientHttp2Session;
  readonly stream: ClientHttp2Stream;
}

function openHttp2(options: ImageStreamOptions, path: string, type: string): Http2Connection {
  const { port, isTls, window = 65_535 } = options;
  const address = { port, host: "127.0.0.1" };
  const socket = isTls
    ? connectTls({ ...address, ALPNProtocols: ["h2"], rejectUnauthorized: false })
    : connectSocket(address);
  socket.on("error", () => {});
  const session = connect(originOf(options), {
    createConnection: () => socket,
    settings: { initialWindowSize: window },
    // Node's client resets its own streams when it has more to send than this.
    maxSessionMemory: 1_000,
  });
  session.on("error", () => {});
  const stream = session.request({
    ":method": "POST",
    ":path": path,
    "content-type": type,
    te: "trailers",
    "x-api-key": options.user,
    ...options.headers,
  });
  stream.on("error", () => {});
  return { socket, session, stream };
}

function http2Controls(
  { socket, session, stream }: Http2Connection,
  answers: readonly Answer[],
  outcome: () => string | undefined,
): Omit<ImageStream, "send"> {
  const ended = new Promise<string>((resolve) =>
    stream.once("close", () => setImmediate(() => resolve(outcome() ?? "lost"))),
  );
  void ended.then(() => session.destroy());
  return {
    answers,
    ended,
    write: (bytes) => stream.write(bytes),
    end: () => void stream.end(),
    pause: () => void stream.pause(),
    resume: () => void stream.resume(),
    onDrain: (callback) => void stream.once("drain", callback),
    close: () => session.destroy(),
    reset: () => void socket.resetAndDestroy(),
    halfClose: () => void socket.end(),
    cancel: () => stream.close(8),
  };
}

function openLinesHttp1(options: ImageStreamOptions): ImageStream {
  const send = options.isTls ? requestHttps : requestHttp1;
  const request: ClientRequest = send(`${originOf(options)}${LINES_PATH}`, {
    method: "POST",
    rejectUnauthorized: false,
    agent: false,
    headers: { "x-api-key": options.user, "content-type": "application/x-ndjson", ...options.headers },
  });
  request.flushHeaders();
  const answers: Answer[] = [];
  let reader: LineReader | undefined;
  let incoming: Readable | undefined;
  let isPaused = false;
  request.on("response", (response) => {
    incoming = response.on("error", () => {});
    reader = new LineReader(response, answers);
    if (isPaused) response.pause();
  });
  request.on("error", () => {});
  const ended = new Promise<string>((resolve) =>
    request.once("close", () => setImmediate(() => resolve(reader?.outcome ?? "lost"))),
  );
  return {
    answers,
    ended,
    send: (key, image) => request.write(imageLine(key, image)),
    write: (bytes) => request.write(bytes),
    end: () => void request.end(),
    pause: () => {
      isPaused = true;
      incoming?.pause();
    },
    resume: () => void incoming?.resume(),
    onDrain: (callback) => void request.once("drain", callback),
    close: () => void request.destroy(),
    reset: () => void request.socket?.resetAndDestroy(),
    halfClose: () => void request.socket?.end(),
    cancel: () => void request.destroy(),
  };
}

/** A line of a response. A request that is rejected as a whole gets the error alone. */
interface ResponseLine {
  readonly key?: string;
  readonly response?: { readonly faces: readonly unknown[] };
  readonly error?: { readonly reason: string };
  readonly reason?: string;
}

/** Reads the lines of a response. */
class LineReader {
  readonly answers: Answer[];
  outcome: string | undefined;

  constructor(response: Readable, answers: Answer[] = []) {
    this.answers = answers;
    response.once("end", () => {
      this.outcome ??= "ok";
    });
    const lines = createInterface({ input: response });
    lines.on("line", (line) => this.#add(JSON.parse(line))).on("error", () => {});
  }

  #add({ key, response, error, reason }: ResponseLine): void {
    if (key === undefined) this.outcome = error?.reason ?? reason;
    else this.answers.push([key, response ? response.faces.length : error!.reason]);
  }
}
