import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { create, type DescMessage, fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import { findTrailerError } from "@connectrpc/connect/protocol-grpc";
import { Client, type ClientDuplexStream, credentials, Metadata, type ServiceError } from "@grpc/grpc-js";
import { Pool } from "undici";
import { FaceService } from "../../gen/ts/face/v1/face_pb.ts";
import { ErrorInfoSchema } from "../../gen/ts/google/rpc/error_details_pb.ts";
import {
  AnalyzeImagesRequestSchema,
  type AnalyzeImagesResponse,
  AnalyzeImagesResponseSchema,
  FaceAnalysisService,
} from "../../gen/ts/visage/v1/face_analysis_pb.ts";
import { EnrolFaceRequestSchema, GalleryService } from "../../gen/ts/visage/v1/gallery_pb.ts";
import { ENROLMENT_GALLERY, OK, type Operation, type RequestKind } from "./load.ts";

/** Sends one request. Resolves to the code of the response envelope, or to how the connection failed. */
export type Send = () => Promise<string>;

/** HTTP and gRPC connections to a server on this machine. */
export interface Clients {
  /** Encodes a request once, so that sending it takes little CPU time. */
  prepare(kind: RequestKind): Send;
  close(): Promise<void>;
}

/** Opens clients for gRPC and plain HTTP. Connections are opened on first use and kept alive. */
export function openClients(port: number, userId: string): Clients {
  const http = new Pool(`http://127.0.0.1:${port}`, { pipelining: 1 });
  const grpc = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
  const streams: ImageStream[] = [];
  return {
    prepare: (kind) => {
      const images = kind.images.map((file) => readFileSync(file));
      if (kind.protocol === "grpc") return grpcSender(grpc, userId, kind.operation, images);
      if (kind.protocol === "grpc-stream") {
        const stream = new ImageStream(grpc, userId, images[0]!);
        streams.push(stream);
        return () => stream.send();
      }
      const { type, body } = encoders[kind.protocol](imageFields(kind.operation, images));
      const path = kind.protocol === "raw" ? "/" : `/${kind.operation}`;
      return httpSender(http, path, { user_id: userId, "content-type": type }, body);
    },
    close: async () => {
      for (const stream of streams) stream.close();
      grpc.close();
      await http.destroy();
    },
  };
}

/** The image fields and the RPC of each operation. */
const OPERATIONS = {
  match_faces: { fields: ["img_1", "img_2"], method: FaceService.method.matchFaces },
  get_image_attr: { fields: ["image_attr"], method: FaceService.method.getImageAttr },
  get_face_vec: { fields: ["img"], method: FaceService.method.getFaceVec },
  analyze_image: { fields: ["image"], method: FaceAnalysisService.method.analyzeImage },
  enrol_face: { fields: ["source"], method: GalleryService.method.enrolFace },
} as const;

type ImageField = readonly [name: string, image: Buffer];

function imageFields(operation: Operation, images: readonly Buffer[]): ImageField[] {
  return OPERATIONS[operation].fields.map((name, i) => [name, images[i]!]);
}

const BOUNDARY = "visage-bench-boundary";

const encoders = {
  multipart: (fields: readonly ImageField[]) => {
    const parts = fields.flatMap(([name, image]) => [
      `--${BOUNDARY}\r\ncontent-disposition: form-data; name="${name}"; filename="${name}.jpg"\r\n\r\n`,
      image,
      "\r\n",
    ]);
    const body = Buffer.concat([...parts, `--${BOUNDARY}--\r\n`].map((part) => Buffer.from(part as string)));
    return { type: `multipart/form-data; boundary=${BOUNDARY}`, body };
  },
  json: (fields: readonly ImageField[]) => {
    const texts = fields.map(([name, image]) => [name, image.toString("base64")]);
    return { type: "application/json", body: Buffer.from(JSON.stringify(Object.fromEntries(texts))) };
  },
  raw: (fields: readonly ImageField[]) => ({ type: "image/jpeg", body: fields[0]![1] }),
} as const;

function httpSender(pool: Pool, path: string, headers: Record<string, string>, body: Buffer): Send {
  const request = { method: "POST", path, headers, body } as const;
  return () =>
    new Promise((resolve) => {
      const chunks: Buffer[] = [];
      // `pool.request` would create a stream per response. CPU time of this process is lost to the service.
      pool.dispatch(request, {
        onRequestStart: () => {},
        onResponseData: (_, chunk) => void chunks.push(chunk),
        onResponseEnd: () => resolve(envelopeCode(Buffer.concat(chunks).toString())),
        onResponseError: (_, error) => resolve((error as NodeJS.ErrnoException).code ?? String(error)),
      });
    });
}

/** Finds the envelope code without parsing the JSON, to save CPU time. */
function envelopeCode(json: string): string {
  return /"code":"(\d+)"/.exec(json)?.[1] ?? `a response without a code: ${json.slice(0, 80)}`;
}

function grpcSender(client: Client, userId: string, operation: Operation, images: readonly Buffer[]): Send {
  const { method, fields } = OPERATIONS[operation];
  const isEnrolment = operation === "enrol_face";
  const parts = fields.map((name, i) => {
    const image = { source: { case: "content", value: images[i]! } };
    return [
      method.input.fields.find((field) => field.name === name)!.localName,
      isEnrolment ? { source: { case: "image", value: image } } : image,
    ];
  });
  const schema: DescMessage = method.input;
  const request = Buffer.from(toBinary(schema, create(schema, Object.fromEntries(parts))));
  const metadata = new Metadata();
  metadata.set("user_id", userId);
  const decode = (bytes: Buffer) => fromBinary(method.output as DescMessage, bytes) as CodedMessage;
  return () =>
    new Promise((resolve) => {
      client.makeUnaryRequest(
        `/${method.parent.typeName}/${method.name}`,
        (bytes: Buffer) => bytes,
        decode,
        // The parts of a message may be encoded one by one.
        isEnrolment ? Buffer.concat([request, newPerson()]) : request,
        metadata,
        (error: ServiceError | null, response?: CodedMessage) =>
          resolve(error ? errorCode(error) : (response!.code ?? OK)),
      );
    });
}

/** The part of an enrolment that differs between requests. */
function newPerson(): Uint8Array {
  const ids = { galleryId: ENROLMENT_GALLERY, personId: randomUUID() };
  return toBinary(EnrolFaceRequestSchema, create(EnrolFaceRequestSchema, ids));
}

/** A response. That of the typed API has no envelope. */
type CodedMessage = Message & { readonly code?: string };

/** Sends the same image on one stream. */
class ImageStream {
  readonly #call: ClientDuplexStream<Buffer, AnalyzeImagesResponse>;
  /** The message without its key. */
  readonly #image: Uint8Array;
  /** Callbacks with the code of a response, by key. */
  readonly #waiting = new Map<string, (code: string) => void>();
  #sent = 0;

  constructor(client: Client, userId: string, image: Buffer) {
    const metadata = new Metadata();
    metadata.set("user_id", userId);
    this.#image = toBinary(
      AnalyzeImagesRequestSchema,
      create(AnalyzeImagesRequestSchema, {
        request: { image: { source: { case: "content", value: image } } },
      }),
    );
    this.#call = client.makeBidiStreamRequest(
      `/${FaceAnalysisService.typeName}/${FaceAnalysisService.method.analyzeImages.name}`,
      (bytes: Buffer) => bytes,
      (bytes: Buffer) => fromBinary(AnalyzeImagesResponseSchema, bytes),
      metadata,
    );
    this.#call.on("data", ({ key, result }: AnalyzeImagesResponse) =>
      this.#answer(key, result.case === "response" ? OK : `gRPC status ${result.value?.code}`),
    );
    this.#call.on("error", (error: ServiceError) => {
      for (const key of this.#waiting.keys()) this.#answer(key, errorCode(error));
    });
  }

  /** Sends the image. Resolves to the code of its response. */
  send(): Promise<string> {
    return new Promise((resolve) => {
      const key = `${this.#sent++}`;
      this.#waiting.set(key, resolve);
      // The parts of a message may be encoded one by one.
      const start = toBinary(AnalyzeImagesRequestSchema, create(AnalyzeImagesRequestSchema, { key }));
      this.#call.write(Buffer.concat([start, this.#image]));
    });
  }

  close(): void {
    this.#call.end();
  }

  #answer(key: string, code: string): void {
    this.#waiting.get(key)?.(code);
    this.#waiting.delete(key);
  }
}

/** The envelope code in the error details, or the gRPC status if the connection failed. */
function errorCode({ code, metadata }: ServiceError): string {
  const [details] = metadata.get("grpc-status-details-bin");
  const trailer = new Headers({ "grpc-status": String(code) });
  if (details) trailer.set("grpc-status-details-bin", Buffer.from(details).toString("base64"));
  const [info] = findTrailerError(trailer)?.findDetails(ErrorInfoSchema) ?? [];
  return info?.metadata.code ?? `gRPC status ${code}`;
}

const WARM_UP_REQUESTS = 300;
const SETTLE_MS = 300;

/** Sends requests to a server that does nothing, so that the client code is compiled before a measurement. */
export async function warmUp(kinds: readonly RequestKind[]): Promise<void> {
  if (kinds.length === 0) return;
  const server = createServer((request, response) => request.resume().once("end", () => response.end("{}")));
  await once(server.listen(0, "127.0.0.1"), "listening");
  const clients = openClients((server.address() as AddressInfo).port, "");
  const senders = kinds
    .filter(({ protocol }) => !protocol.startsWith("grpc"))
    .map((kind) => clients.prepare(kind));
  for (let i = 0; i < WARM_UP_REQUESTS; i++) await Promise.all(senders.map((send) => send()));
  await clients.close();
  server.close();
  // V8 still compiles in background threads.
  await sleep(SETTLE_MS);
}
