import type { AddressInfo } from "node:net";
import { create } from "@bufbuild/protobuf";
import {
  createRouterTransport,
  type HandlerContext,
  type ServiceImpl,
  type Transport,
} from "@connectrpc/connect";
import {
  type BoundingBox,
  BoundingBoxSchema,
  FaceService,
  type Image,
  ImageSchema,
} from "../../gen/ts/face/v1/face_pb.ts";
import { FaceAnalysisService } from "../../gen/ts/visage/v1/face_analysis_pb.ts";
import type { Admission } from "../../src/http/admission.ts";
import { ByteBudget } from "../../src/http/byte-budget.ts";
import { Connections } from "../../src/http/connections.ts";
import type { CorsOrigins } from "../../src/http/cors.ts";
import type { JsonLines } from "../../src/http/json-lines.ts";
import { createLifecycle, type Lifecycle, type LifecycleOptions } from "../../src/http/lifecycle.ts";
import { LIMITS } from "../../src/http/limits.ts";
import { OpenRpcLimiter } from "../../src/http/open-rpc-limiter.ts";
import { createClearPort } from "../../src/http/port.ts";
import type { ServedService } from "../../src/http/served-service.ts";
import { createRestHandler } from "../../src/rest/handler.ts";
import { RestError } from "../../src/rest/rest-error.ts";
import type { TextParsers } from "../../src/rest/text-parser.ts";
import { connectErrorFrom } from "../../src/service/error-responses.ts";
import { translateErrors } from "../../src/service/interceptors.ts";
import { ServiceError } from "../../src/service/service-error.ts";
import { FACE_V1, VISAGE_V1 } from "../../src/services.ts";
import { createLog } from "../../src/telemetry/log.ts";
import { postBytes, sendRaw } from "./raw-http.ts";

/** The limit on bodies of the echo service. */
export const MAX_REQUEST_BYTES = 64 * 1024;

/** Simple parsers in place of the service's own: a URL or Base64, and four whole numbers. */
const textParsers: TextParsers = {
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

/** Describes an image in an echo: its URL, or its bytes in hexadecimal. */
function describeImage(image: Image | undefined): string {
  if (!image) return "none";
  return image.source.case === "url"
    ? image.source.value
    : Buffer.from(image.source.value ?? []).toString("hex");
}

function describeBox(box: BoundingBox | undefined): string {
  return box ? [box.x1, box.y1, box.x2, box.y2].join(",") : "none";
}

/** A service whose responses describe their requests. */
export interface Echo {
  readonly port: number;
  /** The error lines of the log. */
  readonly errors: unknown[];
  readonly calls: HandlerContext[];
  /** The number of requests that have not ended. */
  inFlight(): number;
  close(): Promise<void>;
}

/** Options of an echo service. */
export interface EchoOptions {
  readonly transport?: Transport;
  readonly timeoutMs?: number;
  readonly corsOrigins?: CorsOrigins;
  readonly maxRequestBytes?: number;
  /** Everyone is admitted by default. */
  readonly admit?: Admission["admit"];
  /** Serves the operations as RPCs as well. */
  readonly rpc?: Partial<ServiceImpl<typeof FaceService>>;
  /** Serves operations of the typed API as RPCs, if `rpc` is given. */
  readonly typedRpc?: Partial<ServiceImpl<typeof FaceAnalysisService>>;
  /** Serves methods as lines of JSON. */
  readonly lines?: readonly JsonLines[];
}

/** Creates the lifecycle of services alone: no open RPCs, pages or admission limits. */
export function createTestLifecycle(
  options: Pick<LifecycleOptions, "services"> & Partial<LifecycleOptions>,
): Lifecycle {
  return createLifecycle({
    openRpcRoutes: () => {},
    pages: undefined,
    isReady: () => true,
    draining: new AbortController().signal,
    isTraced: false,
    streamWindow: 2,
    openRpcLimiter: new OpenRpcLimiter([]),
    budget: new ByteBudget({ totalBytes: 16 * 1024 ** 2, maxWaitMs: 100 }),
    maxRequestBytes: 1024 ** 2,
    timeoutMs: 30_000,
    corsOrigins: "*",
    log: createLog("off"),
    ...options,
  });
}

/** Starts the real edge with an echoing FaceService. A call of the user `slow` waits until the client disconnects. */
export async function startEcho(options: EchoOptions = {}): Promise<Echo> {
  const errors: unknown[] = [];
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
        const boxes = [describeBox(request.bboxes1), describeBox(request.bboxes2)];
        return {
          status: `${describeImage(request.img1)} ${describeImage(request.img2)}`,
          code: boxes.join(" "),
          message: `face_det ${request.faceDet} detail ${request.detail}`,
          data: { score: "0.0000" },
        };
      },
      getImageAttr(request, context) {
        calls.push(context);
        return {
          status: describeImage(request.imageAttr),
          code: request.bboxes.map(describeBox).join(" "),
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
        const message = `quality ${request.quality}`;
        return { status: describeImage(request.img), code: describeBox(request.bboxes), message };
      },
    });
  });
  const log = { ...createLog("off"), error: (line: unknown) => void errors.push(line) };
  const interceptors = [translateErrors(log)];
  const faces: ServedService = {
    service: FaceService,
    api: FACE_V1,
    access: "operation",
    rpcRoutes: (router) => options.rpc && router.service(FaceService, options.rpc, { interceptors }),
    rest: createRestHandler({ service: FaceService, transport: options.transport ?? transport, textParsers }),
    lines: options.lines ?? [],
  };
  const analysis: ServedService = {
    ...faces,
    service: FaceAnalysisService,
    api: VISAGE_V1,
    rpcRoutes: (router) => router.service(FaceAnalysisService, options.typedRpc ?? {}, { interceptors }),
    rest: { ...faces.rest, routes: [] },
    lines: [],
  };
  const lifecycle = createTestLifecycle({
    services: [faces, analysis],
    maxRequestBytes: options.maxRequestBytes ?? MAX_REQUEST_BYTES,
    timeoutMs: options.timeoutMs ?? 30_000,
    corsOrigins: options.corsOrigins ?? "*",
    log,
  });
  const port = createClearPort({
    onRequest: lifecycle.createListener({
      admission: {
        admit: options.admit ?? (async () => {}),
        admitItem: () => Promise.reject(new Error("no streams")),
      },
      observers: [],
    }),
    rejectHead: lifecycle.rejectHead,
    onSessionError: () => {},
    connections: new Connections({ total: 100, perAddress: 100 }, [], () => {}),
    limits: { ...LIMITS, maxConnectionAgeMs: 60_000 },
  });
  await new Promise<void>((resolve) => port.server.listen(0, "127.0.0.1", resolve));
  return {
    port: (port.server.address() as AddressInfo).port,
    errors,
    calls,
    inFlight: () => lifecycle.inFlight,
    close: () => port.close(0),
  };
}

/** Posts to an echo service. Returns the response with its HTTP status, the error's reason and the field at fault. */
export async function postTo(
  echo: Echo,
  target: string,
  headers: readonly string[],
  body: string | Uint8Array,
) {
  const response = await sendRaw(echo.port, postBytes(target, headers, body));
  const json = JSON.parse(response.body);
  const field = response.headers["x-visage-image"] ?? null;
  return { httpStatus: response.status, ...json, reason: json.data?.reason, field };
}
