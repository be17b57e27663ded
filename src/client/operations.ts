import { createClient, type Interceptor, type Transport } from "@connectrpc/connect";
import { type Face, FaceService } from "../../gen/ts/face/v1/face_pb.ts";
import { AccountService } from "../../gen/ts/visage/v1/account_pb.ts";
import { AdminService } from "../../gen/ts/visage/v1/admin_pb.ts";
import { FaceAnalysisService } from "../../gen/ts/visage/v1/face_analysis_pb.ts";
import {
  analysisFromMessage,
  analysisRequest,
  comparisonFromMessage,
  isTemplate,
  type ReadFace,
  sourceFromTemplate,
} from "./analysis.ts";
import { CallRunner } from "./call-runner.ts";
import { createGalleries } from "./galleries.ts";
import { type ImageInput, imageFromInput, type ReadFile } from "./image-input.ts";
import type { ImageStreamOptions, ItemResult } from "./image-stream.ts";
import { createServiceCalls } from "./service-calls.ts";
import type {
  AnalysisOptions,
  ComparisonOptions,
  FaceAttributes,
  StreamImage,
  StreamResult,
  VisageClient,
  VisageClientOptions,
} from "./types.ts";

/** What differs between Node and browsers. */
export interface Platform {
  readonly transport: Transport;
  readonly readFile: ReadFile;
  /** Sends images on a stream. Missing if the platform cannot stream requests. */
  readonly stream?: <Item>(options: ImageStreamOptions<Item>) => AsyncIterable<ItemResult<Item>>;
  /** Closes the connections of the transport. */
  readonly disconnect: () => void;
}

/** The longest time of a timer. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/** Creates a client for a platform. Throws RangeError for options out of range. */
export function createOperations(options: VisageClientOptions, platform: Platform): VisageClient {
  const raw = createClient(FaceService, platform.transport);
  const rawAnalysis = createClient(FaceAnalysisService, platform.transport);
  const runner = new CallRunner({
    timeoutMs: checkRange("timeoutMs", options.timeoutMs ?? 30_000, 1, MAX_TIMEOUT_MS),
    retries: checkRange("retries", options.retries ?? 3, 0, 1_000),
    maxInFlight: checkRange("maxInFlight", options.maxInFlight ?? 32, 1, 10_000),
  });
  const read = (input: ImageInput, signal: AbortSignal) => imageFromInput(input, platform.readFile, signal);
  const readPair = async (
    images: readonly [ImageInput, ImageInput],
    { detect, box1, box2 }: ComparisonOptions,
    signal: AbortSignal,
  ) => {
    const [img1, img2] = await Promise.all([read(images[0], signal), read(images[1], signal)]);
    return { img1, img2, ...faceDetField(detect), bboxes1: box1, bboxes2: box2 };
  };
  const readFace: ReadFace = async (face, box, signal) => ({
    source: isTemplate(face) ? sourceFromTemplate(face) : { case: "image", value: await read(face, signal) },
    ...(box && { box }),
  });
  const { raw: rawGalleries, galleries } = createGalleries({
    transport: platform.transport,
    runner,
    readFace,
    canStreamRequests: platform.stream !== undefined,
  });
  async function* analyzeStream<Key>(
    items: Iterable<StreamImage<Key>> | AsyncIterable<StreamImage<Key>>,
    options: AnalysisOptions,
    stream: NonNullable<Platform["stream"]>,
  ): AsyncGenerator<StreamResult<Key>> {
    const { controller, end } = runner.open(options.signal);
    const results = stream<StreamImage<Key>>({
      items,
      prepare: async ({ image, boxes }, signal) => analysisRequest(await read(image, signal), options, boxes),
      open: rawAnalysis.analyzeImages,
      limits: runner.limits,
      signal: controller.signal,
    });
    try {
      for await (const { item, outcome } of results) {
        if ("error" in outcome) yield { key: item.key, error: outcome.error };
        else yield { key: item.key, response: analysisFromMessage(outcome.response) };
      }
    } finally {
      end();
    }
  }

  return {
    raw,
    rawAnalysis,
    rawGalleries,
    galleries,
    account: createServiceCalls(AccountService, platform.transport, runner),
    admin: createServiceCalls(AdminService, platform.transport, runner),

    close() {
      runner.close();
      platform.disconnect();
    },

    async analyzeImage(image, options = {}) {
      const response = await runner.run(options.signal, {
        prepare: async (signal) => analysisRequest(await read(image, signal), options, options.boxes),
        send: rawAnalysis.analyzeImage,
      });
      return analysisFromMessage(response);
    },

    analyzeImages(images, options = {}) {
      if (!platform.stream)
        throw new TypeError("A browser cannot stream requests. Call analyzeImage for each image.");
      return analyzeStream(images, options, platform.stream);
    },

    async compareFaces(source, target, options = {}) {
      const { sourceBox, targetBox, maxFalseMatchRate = 0, signal } = options;
      const { assumeAdults = false, quality = false } = options;
      const response = await runner.run(signal, {
        prepare: async (signal) => {
          const faces = [readFace(source, sourceBox, signal), readFace(target, targetBox, signal)] as const;
          const [sourceFace, targetFace] = await Promise.all(faces);
          return { source: sourceFace, target: targetFace, maxFalseMatchRate, assumeAdults, quality };
        },
        send: rawAnalysis.compareFaces,
      });
      return comparisonFromMessage(response);
    },

    async matchFaces(one, other, options = {}) {
      const { data } = await runner.run(options.signal, {
        prepare: (signal) => readPair([one, other], options, signal),
        send: raw.matchFaces,
      });
      return { distance: Number(data!.score), matched: data!.status === "match" };
    },

    async getImageAttr(image, { boxes = [], detect, signal } = {}) {
      const { data } = await runner.run(signal, {
        prepare: async (signal) => ({
          imageAttr: await read(image, signal),
          bboxes: [...boxes],
          ...faceDetField(detect),
        }),
        send: raw.getImageAttr,
      });
      const { faces, imageSize } = data!.attributes!;
      const [height, width] = imageSize as [number, number];
      // A Protobuf map is unordered.
      const inOrder = Object.keys(faces).map((_, i) => faceAttributesFromMessage(faces[`face_id_${i}`]!));
      return { width, height, faces: inOrder };
    },

    async getFaceVec(image, { box, quality = false, detect, signal } = {}) {
      let model = "";
      const onTrailer = (trailer: Headers) => {
        model = trailer.get("x-visage-model") ?? "";
      };
      const { data } = await runner.run(signal, {
        prepare: async (signal) => ({
          img: await read(image, signal),
          quality,
          ...faceDetField(detect),
          bboxes: box,
        }),
        send: (request, call) => raw.getFaceVec(request, { ...call, onTrailer }),
      });
      return { embedding: Float32Array.from(data!.vector), model };
    },
  };
}

/** Returns the URL of the service without a final slash. Throws TypeError if it is not an HTTP(S) URL. */
export function checkAddress(address: string): string {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url?.protocol !== "http:" && url?.protocol !== "https:")
    throw new TypeError(`The address must be a URL such as http://localhost:8080, not "${address}".`);
  return address.replace(/\/+$/, "");
}

/** Sends the API key with every call. Throws TypeError if it cannot be sent in a header. */
export function apiKeyInterceptors(apiKey: string | undefined): Interceptor[] {
  if (apiKey === undefined) return [];
  // The key itself stays out of the message, which may be logged.
  if (!/^[!-~]+$/.test(apiKey)) throw new TypeError("The API key must be ASCII text without spaces.");
  return [
    (next) => (request) => {
      request.header.set("authorization", `Bearer ${apiKey}`);
      return next(request);
    },
  ];
}

function checkRange(name: string, value: number, min: number, max: number): number {
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw new RangeError(`${name} must be an integer from ${min} to ${max}, not ${value}.`);
}

function faceDetField(detect: boolean | undefined): { faceDet?: boolean } {
  return detect === undefined ? {} : { faceDet: detect };
}

function faceAttributesFromMessage({
  faceRectangle,
  age,
  gender,
  genderConfidence,
  landmarks,
}: Face): FaceAttributes {
  const [x1, y1, x2, y2] = faceRectangle as [number, number, number, number];
  return { box: { x1, y1, x2, y2 }, age, gender, genderConfidence, landmarks: landmarks!.faceLandMark };
}
