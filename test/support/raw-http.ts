import { type AddressInfo, connect, type Socket } from "node:net";
import { create } from "@bufbuild/protobuf";
import { createRouterTransport, type HandlerContext, type Transport } from "@connectrpc/connect";
import {
  type BoundingBox,
  BoundingBoxSchema,
  FaceService,
  type Image,
  ImageSchema,
} from "../../gen/ts/face/v1/face_pb.ts";
import { ByteBudget } from "../../src/http/byte-budget.ts";
import { Connections } from "../../src/http/connections.ts";
import type { CorsOrigins } from "../../src/http/cors.ts";
import { createHeadRejection } from "../../src/http/errors.ts";
import { createLifecycle } from "../../src/http/lifecycle.ts";
import { LIMITS } from "../../src/http/limits.ts";
import { createClearPort } from "../../src/http/port.ts";
import { WatchLimiter } from "../../src/http/watch-limiter.ts";
import { createRestHandler } from "../../src/rest/handler.ts";
import { RestError } from "../../src/rest/rest-error.ts";
import type { TextParsers } from "../../src/rest/text-parser.ts";
import { connectErrorFrom } from "../../src/service/error-responses.ts";
import { ServiceError } from "../../src/service/service-error.ts";
import { createLog } from "../../src/telemetry/log.ts";

/** An answer as it came over the socket. */
export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Joins text and bytes into the bytes of a request; text goes out exactly as written. */
export function bytesOf(...pieces: readonly (string | Uint8Array)[]): Buffer {
  return Buffer.concat(pieces.map((piece) => (typeof piece === "string" ? Buffer.from(piece) : piece)));
}

/** Writes a POST with the given header lines and body; adds Host, Content-Length and a closing connection. */
export function postBytes(target: string, headers: readonly string[], body: string | Uint8Array): Buffer {
  const length = Buffer.byteLength(body);
  const lines = [`POST ${target} HTTP/1.1`, "Host: test", "Connection: close", `Content-Length: ${length}`];
  return bytesOf([...lines, ...headers, "", ""].join("\r\n"), body);
}

/** Opens a socket to a local port. */
export function openSocket(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => resolve(socket));
    socket.once("error", reject);
  });
}

/**
 * Sends bytes as they are, so that no client library makes them better, and reads the first final answer.
 */
export async function sendRaw(port: number, request: Uint8Array): Promise<RawAnswer> {
  const socket = await openSocket(port);
  socket.write(request);
  try {
    return await readAnswer(socket);
  } finally {
    socket.destroy();
  }
}

/** Reads one answer, beyond any `100 Continue`, by its content length or else the end of the connection. */
export function readAnswer(socket: Socket): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    let seen = Buffer.alloc(0);
    const settle = (ended: boolean) => {
      const answer = answerIn(seen, ended);
      if (answer) resolve(answer);
      else if (ended) reject(new Error(`The connection ended after: ${seen.toString("latin1")}`));
    };
    socket.on("data", (chunk) => {
      seen = Buffer.concat([seen, chunk]);
      settle(false);
    });
    socket.on("error", () => settle(true)).on("close", () => settle(true));
  });
}

function answerIn(bytes: Buffer, ended: boolean): RawAnswer | undefined {
  const end = bytes.indexOf("\r\n\r\n");
  if (end < 0) return undefined;
  const [first, ...lines] = bytes.toString("latin1", 0, end).split("\r\n");
  const status = Number(first!.split(" ")[1]);
  const rest = bytes.subarray(end + 4);
  if (status === 100) return answerIn(rest, ended);
  const headers = Object.fromEntries(
    lines.map((line) => [
      line.slice(0, line.indexOf(":")).toLowerCase(),
      line.slice(line.indexOf(":") + 1).trim(),
    ]),
  );
  const length = headers["content-length"];
  if (!ended && (length === undefined || rest.length < Number(length))) return undefined;
  return { status, headers, body: rest.toString() };
}

/** Bodies beyond this are refused by the echo server. */
export const MAX_REQUEST_BYTES = 64 * 1024;

/** Simple forms that stand for the service's: a URL or Base64, and four whole numbers. */
export const textParsers: TextParsers = {
  "face.v1.Image": {
    fromText: (given: string | Uint8Array) => {
      const text = typeof given === "string" ? given : Buffer.from(given).toString();
      return /^https?:/.test(text)
        ? create(ImageSchema, { source: { case: "url", value: text } })
        : create(ImageSchema, { source: { case: "content", value: fromBase64(text.replaceAll(" ", "+")) } });
    },
    fromBytes: (value: Uint8Array) => create(ImageSchema, { source: { case: "content", value } }),
  },
  "face.v1.BoundingBox": {
    fromText: (text: string) => {
      const numbers = text.split(",").map((one) => (one.trim() === "" ? Number.NaN : Number(one)));
      if (numbers.length !== 4 || !numbers.every(Number.isInteger)) {
        throw new RestError("badRequest", `The box "${text}" is not four numbers.`);
      }
      const [x1, y1, x2, y2] = numbers as [number, number, number, number];
      return create(BoundingBoxSchema, { x1, y1, x2, y2 });
    },
  },
};

function fromBase64(text: string): Uint8Array {
  if (!/^[\w+/-]+=*$/.test(text)) throw new RestError("badRequest", "The text is neither a URL nor Base64.");
  return Buffer.from(text, "base64");
}

/** How an image reads in an echo: its URL, or its bytes in hexadecimal. */
export function told(image: Image | undefined): string {
  if (!image) return "none";
  return image.source.case === "url"
    ? image.source.value
    : Buffer.from(image.source.value ?? []).toString("hex");
}

function boxTold(box: BoundingBox | undefined): string {
  return box ? [box.x1, box.y1, box.x2, box.y2].join(",") : "none";
}

/** A service that answers with what it was asked, and what it saw of each call. */
export interface Echo {
  readonly port: number;
  /** What was logged as an error. */
  readonly faults: unknown[];
  readonly calls: HandlerContext[];
  /** Requests that have not ended. */
  inFlight(): number;
  close(): Promise<void>;
}

/** What an echo may do otherwise. */
export interface EchoChanges {
  readonly transport?: Transport;
  readonly timeoutMs?: number;
  readonly corsOrigins?: CorsOrigins;
}

/** Starts the real edge before an echoing FaceService; `slow` as the user id waits for the client to leave. */
export async function startEcho(changes: EchoChanges = {}): Promise<Echo> {
  const faults: unknown[] = [];
  const calls: HandlerContext[] = [];
  const transport = createRouterTransport(({ service }) => {
    service(FaceService, {
      async matchFaces(request, context) {
        calls.push(context);
        const user = context.requestHeader.get("user_id");
        if (user === "slow")
          await new Promise((resolve) => context.signal.addEventListener("abort", resolve));
        if (user === "nobody") {
          const error = connectErrorFrom(new ServiceError("unknownUser"));
          error.metadata.set("x-request-id", "id-2");
          throw error;
        }
        context.responseHeader.set("x-request-id", "id-1");
        context.responseHeader.set("keep-alive", "timeout=9");
        context.responseTrailer.set("x-visage-model", "m1");
        context.responseTrailer.set("grpc-status", "0");
        const boxes = [boxTold(request.bboxes1), boxTold(request.bboxes2)];
        return {
          status: `${told(request.img1)} ${told(request.img2)}`,
          code: boxes.join(" "),
          message: `face_det ${request.faceDet} detail ${request.detail}`,
          data: { score: "0.0000" },
        };
      },
      getImageAttr(request, context) {
        calls.push(context);
        return {
          status: told(request.imageAttr),
          code: request.bboxes.map(boxTold).join(" "),
          message: `face_det ${request.faceDet} detail ${request.detail}`,
          data: {
            attributes: {
              faces: {
                face_id_0: { age: "20-40", landmarks: { faceLandMark: { chin: { x: 0, y: 7 } } } },
                face_id_1: { age: "0-10" },
              },
              imageSize: [4, 3],
            },
          },
        };
      },
      getFaceVec(request) {
        const said = `quality ${request.quality}`;
        return { status: told(request.img), code: boxTold(request.bboxes), message: said };
      },
    });
  });
  const log = { ...createLog("off"), error: (line: unknown) => void faults.push(line) };
  const lifecycle = createLifecycle({
    rest: createRestHandler({ service: FaceService, transport: changes.transport ?? transport, textParsers }),
    rpcRoutes: () => {},
    openRpcRoutes: () => {},
    interceptors: [],
    pages: undefined,
    isReady: () => true,
    isDraining: () => false,
    watchLimiter: new WatchLimiter(),
    budget: new ByteBudget({ totalBytes: 1024 ** 2, maxWaitMs: 100 }),
    maxRequestBytes: MAX_REQUEST_BYTES,
    timeoutMs: changes.timeoutMs ?? 30_000,
    corsOrigins: changes.corsOrigins ?? "*",
    httpStatus: (status) => status,
    log,
  });
  const port = createClearPort({
    onRequest: lifecycle.createListener({ admit: async () => {}, observers: [] }),
    rejectHead: createHeadRejection,
    onSessionError: () => {},
    connections: new Connections({ total: 100, perAddress: 100 }, [], () => {}),
    limits: { ...LIMITS, maxConnectionAgeMs: 60_000 },
  });
  await new Promise<void>((resolve) => port.server.listen(0, "127.0.0.1", resolve));
  return {
    port: (port.server.address() as AddressInfo).port,
    faults,
    calls,
    inFlight: () => lifecycle.inFlight,
    close: () => port.close(0),
  };
}

/** Posts to an echo, and reads the answer with its HTTP status, the error's reason and the field at fault. */
export async function postTo(
  echo: Echo,
  target: string,
  headers: readonly string[],
  body: string | Uint8Array,
) {
  const answer = await sendRaw(echo.port, postBytes(target, headers, body));
  const json = JSON.parse(answer.body);
  const field = answer.headers["x-visage-image"] ?? null;
  return { httpStatus: answer.status, ...json, reason: json.data?.reason, field };
}
