import {
  type DescMessage,
  type DescMethodUnary,
  fromBinary,
  fromJson,
  type JsonObject,
  type Message,
  toBinary,
} from "@bufbuild/protobuf";
import { ConnectError, createClient, type Transport } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from "@connectrpc/connect-node";
import { Client, credentials, Metadata, type ServiceError } from "@grpc/grpc-js";
import { type BoundingBox, FaceService, type Image } from "../../gen/ts/face/v1/face_pb.ts";
import { ErrorInfoSchema } from "../../gen/ts/google/rpc/error_details_pb.ts";

/** The four operations by the names of their RPCs. */
export type Operation = keyof typeof FaceService.method;

/** An answer, or the envelope code of an error and its message. */
export type Outcome = { readonly answer: Message } | { readonly code: string; readonly message: string };

/** One way of asking the service: the same request, the same outcome, whatever lies between. */
export interface WayIn {
  readonly name: string;
  ask(operation: Operation, request: Message): Promise<Outcome>;
}

/** Every way in to a server at a port. */
export function waysIn(port: number, userId: string): readonly WayIn[] {
  const baseUrl = `http://127.0.0.1:${port}`;
  return [
    { name: "gRPC (grpc-js)", ask: (operation, request) => askGrpcJs(port, userId, operation, request) },
    byTransport("gRPC (connect)", createGrpcTransport({ baseUrl }), userId),
    byTransport("gRPC-Web", createGrpcWebTransport({ baseUrl, httpVersion: "1.1" }), userId),
    byTransport(
      "Connect binary",
      createConnectTransport({ baseUrl, httpVersion: "1.1", useBinaryFormat: true }),
      userId,
    ),
    byTransport(
      "Connect JSON",
      createConnectTransport({ baseUrl, httpVersion: "2", useBinaryFormat: false }),
      userId,
    ),
    byRest("REST JSON", baseUrl, userId, (fields) => ({
      type: "application/json",
      body: JSON.stringify(Object.fromEntries(fields.map(([name, value]) => [name, textOf(value)]))),
    })),
    byRest("REST form", baseUrl, userId, (fields) => ({
      type: "application/x-www-form-urlencoded",
      body: new URLSearchParams(
        fields.map(([name, value]): [string, string] => [name, textOf(value)]),
      ).toString(),
    })),
    byRest("REST multipart", baseUrl, userId, (fields) => {
      const form = new FormData();
      for (const [name, value] of fields)
        if (value instanceof Uint8Array) form.append(name, new Blob([value.slice()]), "photo.jpg");
        else form.append(name, value);
      return { body: form };
    }),
  ];
}

function byTransport(name: string, transport: Transport, userId: string): WayIn {
  const client = createClient(FaceService, transport);
  return {
    name,
    ask: async (operation, request) => {
      try {
        const call = client[operation] as unknown as (message: Message, options: object) => Promise<Message>;
        return { answer: await call(request, { headers: { user_id: userId } }) };
      } catch (fault) {
        const error = ConnectError.from(fault);
        const [info] = error.findDetails(ErrorInfoSchema);
        return { code: info?.metadata.code ?? `none: ${error.message}`, message: error.rawMessage };
      }
    },
  };
}

function askGrpcJs(port: number, userId: string, operation: Operation, request: Message): Promise<Outcome> {
  const method: DescMethodUnary = FaceService.method[operation];
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
  const metadata = new Metadata();
  metadata.set("user_id", userId);
  return new Promise((resolve) => {
    client.makeUnaryRequest(
      `/${FaceService.typeName}/${method.name}`,
      (message: Message) => Buffer.from(toBinary(method.input as DescMessage, message)),
      (bytes: Buffer) => fromBinary(method.output as DescMessage, bytes),
      request,
      metadata,
      (error: ServiceError | null, answer?: Message) => {
        client.close();
        resolve(error ? { code: codeOf(error), message: error.details } : { answer: answer! });
      },
    );
  });
}

/** The code in the status details that another implementation received: a google.rpc.Status with an ErrorInfo. */
function codeOf({ metadata }: ServiceError): string {
  const [status] = metadata.get("grpc-status-details-bin");
  return /code\W{2}(\d{4})/.exec(Buffer.from(status ?? "").toString("latin1"))?.[1] ?? "none";
}

type Field = readonly [name: string, value: string | Uint8Array];

function byRest(
  name: string,
  baseUrl: string,
  userId: string,
  encode: (fields: readonly Field[]) => { type?: string; body: string | FormData },
): WayIn {
  return {
    name,
    ask: async (operation, request) => {
      const { type, body } = encode(fieldsOf(request));
      const headers = { user_id: userId, ...(type && { "content-type": type }) };
      const response = await fetch(`${baseUrl}${PATHS[operation]}`, { method: "POST", headers, body });
      const envelope = (await response.json()) as JsonObject;
      if (envelope.success !== true)
        return { code: String(envelope.code), message: String(envelope.message) };
      const { output } = FaceService.method[operation];
      return { answer: fromJson(output as DescMessage, unflattened(envelope)) };
    },
  };
}

const PATHS: Readonly<Record<Operation, string>> = {
  matchFaces: "/match_faces",
  compareFaces: "/compare_faces",
  getImageAttr: "/get_image_attr",
  getFaceVec: "/get_face_vec",
};

/** A request message as the fields that a REST caller would send. */
function fieldsOf(request: Message): Field[] {
  const method = Object.values(FaceService.method).find(({ input }) => input.typeName === request.$typeName)!;
  return method.input.fields.flatMap((field): Field[] => {
    const value = (request as unknown as Record<string, unknown>)[field.localName];
    if (value === undefined || value === false) return [];
    if (field.fieldKind === "scalar") return [[field.name, value ? "1" : "0"]];
    if (field.fieldKind === "list") return (value as BoundingBox[]).map((box) => [field.name, boxText(box)]);
    if (field.name.startsWith("bboxes")) return [[field.name, boxText(value as BoundingBox)]];
    return [[field.name, (value as Image).source.value!]];
  });
}

function boxText({ x1, y1, x2, y2 }: BoundingBox): string {
  return [x1, y1, x2, y2].join(",");
}

function textOf(value: string | Uint8Array): string {
  return typeof value === "string" ? value : Buffer.from(value).toString("base64");
}

/** Undoes what plain JSON flattens, so that the answer can be read as the message that it is. */
function unflattened(envelope: JsonObject): JsonObject {
  const data = envelope.data as JsonObject;
  const attributes = data.attributes as JsonObject | undefined;
  if (!attributes) return envelope;
  const { image_size, ...faces } = attributes;
  return { ...envelope, data: { ...data, attributes: { faces, image_size: image_size! } } };
}
