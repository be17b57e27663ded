import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { create, type DescMessage, fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import { findTrailerError } from "@connectrpc/connect/protocol-grpc";
import { Client, credentials, Metadata, type ServiceError } from "@grpc/grpc-js";
import { Pool } from "undici";
import { FaceService } from "../../gen/ts/face/v1/face_pb.ts";
import { ErrorInfoSchema } from "../../gen/ts/google/rpc/error_details_pb.ts";
import type { Operation, RequestKind } from "./load.ts";

/** Sends one request and gives the code in the answer's envelope, or how the connection failed. */
export type Send = () => Promise<string>;

/** Connections to a server on this machine. */
export interface Clients {
  /** Encodes a request once, so that sending it costs this process little. */
  prepare(kind: RequestKind): Send;
  close(): Promise<void>;
}

/** Opens what talks gRPC and plain HTTP to a server; connections are made when they are needed and kept. */
export function openClients(port: number, userId: string): Clients {
  const http = new Pool(`http://127.0.0.1:${port}`, { pipelining: 1 });
  const grpc = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
  return {
    prepare: (kind) => {
      const images = kind.images.map((file) => readFileSync(file));
      if (kind.wire === "grpc") return grpcSender(grpc, userId, kind.operation, images);
      const { type, body } = encoders[kind.wire](fieldsOf(kind.operation, images));
      const path = kind.wire === "bare" ? "/" : `/${kind.operation}`;
      return httpSender(http, path, { user_id: userId, "content-type": type }, body);
    },
    close: async () => {
      grpc.close();
      await http.destroy();
    },
  };
}

/** The names of an operation's images, and its RPC. */
const OPERATIONS = {
  match_faces: { fields: ["img_1", "img_2"], method: FaceService.method.matchFaces },
  get_image_attr: { fields: ["image_attr"], method: FaceService.method.getImageAttr },
  get_face_vec: { fields: ["img"], method: FaceService.method.getFaceVec },
} as const;

type Field = readonly [name: string, image: Buffer];

function fieldsOf(operation: Operation, images: readonly Buffer[]): Field[] {
  return OPERATIONS[operation].fields.map((name, i) => [name, images[i]!]);
}

const BOUNDARY = "visage-bench-boundary";

const encoders = {
  multipart: (fields: readonly Field[]) => {
    const parts = fields.flatMap(([name, image]) => [
      `--${BOUNDARY}\r\ncontent-disposition: form-data; name="${name}"; filename="${name}.jpg"\r\n\r\n`,
      image,
      "\r\n",
    ]);
    const body = Buffer.concat([...parts, `--${BOUNDARY}--\r\n`].map((part) => Buffer.from(part as string)));
    return { type: `multipart/form-data; boundary=${BOUNDARY}`, body };
  },
  json: (fields: readonly Field[]) => {
    const texts = fields.map(([name, image]) => [name, image.toString("base64")]);
    return { type: "application/json", body: Buffer.from(JSON.stringify(Object.fromEntries(texts))) };
  },
  bare: (fields: readonly Field[]) => ({ type: "image/jpeg", body: fields[0]![1] }),
} as const;

function httpSender(pool: Pool, path: string, headers: Record<string, string>, body: Buffer): Send {
  const request = { method: "POST", path, headers, body } as const;
  return () =>
    new Promise((resolve) => {
      const chunks: Buffer[] = [];
      // Not `pool.request`, which makes a stream of each answer: what this process takes is lost to the service.
      pool.dispatch(request, {
        onRequestStart: () => {},
        onResponseData: (_, chunk) => void chunks.push(chunk),
        onResponseEnd: () => resolve(envelopeCode(Buffer.concat(chunks).toString())),
        onResponseError: (_, fault) => resolve((fault as NodeJS.ErrnoException).code ?? String(fault)),
      });
    });
}

/** Not read as JSON: what this process takes is lost to the service. */
function envelopeCode(json: string): string {
  return /"code":"(\d+)"/.exec(json)?.[1] ?? `an answer without a code: ${json.slice(0, 80)}`;
}

function grpcSender(client: Client, userId: string, operation: Operation, images: readonly Buffer[]): Send {
  const { method, fields } = OPERATIONS[operation];
  const parts = fields.map((name, i) => [
    method.input.fields.find((field) => field.name === name)!.localName,
    { source: { case: "content", value: images[i]! } },
  ]);
  const schema: DescMessage = method.input;
  const request = Buffer.from(toBinary(schema, create(schema, Object.fromEntries(parts))));
  const metadata = new Metadata();
  metadata.set("user_id", userId);
  const decode = (bytes: Buffer) => fromBinary(method.output as DescMessage, bytes) as CodedAnswer;
  return () =>
    new Promise((resolve) => {
      client.makeUnaryRequest(
        `/${FaceService.typeName}/${method.name}`,
        (bytes: Buffer) => bytes,
        decode,
        request,
        metadata,
        (error: ServiceError | null, answer?: CodedAnswer) => resolve(error ? codeOf(error) : answer!.code),
      );
    });
}

type CodedAnswer = Message & { readonly code: string };

/** The code in the details of an error; a failure of the connection has none, and is told by its status. */
function codeOf({ code, metadata }: ServiceError): string {
  const [details] = metadata.get("grpc-status-details-bin");
  const trailer = new Headers({ "grpc-status": String(code) });
  if (details) trailer.set("grpc-status-details-bin", Buffer.from(details).toString("base64"));
  const [info] = findTrailerError(trailer)?.findDetails(ErrorInfoSchema) ?? [];
  return info?.metadata.code ?? `gRPC status ${code}`;
}

const WARM_UPS = 300;
const SETTLE_MS = 300;

/** Sends requests to a server that does nothing, so that this process is not slow at first where another is measured. */
export async function warmUp(kinds: readonly RequestKind[]): Promise<void> {
  if (kinds.length === 0) return;
  const server = createServer((request, response) => request.resume().once("end", () => response.end("{}")));
  await once(server.listen(0, "127.0.0.1"), "listening");
  const clients = openClients((server.address() as AddressInfo).port, "");
  const senders = kinds.filter(({ wire }) => wire !== "grpc").map((kind) => clients.prepare(kind));
  for (let i = 0; i < WARM_UPS; i++) await Promise.all(senders.map((send) => send()));
  await clients.close();
  server.close();
  // What was used is still being compiled, by other threads.
  await sleep(SETTLE_MS);
}
