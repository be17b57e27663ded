import {
  type DescMessage,
  type DescMethodUnary,
  fromBinary,
  fromJson,
  isFieldSet,
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

/** The operations by the names of their RPCs. */
export type Operation = keyof typeof FaceService.method;

/** A response, or the envelope code and message of an error. */
export type Outcome = { readonly response: Message } | { readonly code: string; readonly message: string };

/** A client for one protocol. The same request has the same outcome with every client. */
export interface ProtocolClient {
  readonly name: string;
  call(operation: Operation, request: Message): Promise<Outcome>;
}

/** Creates a client for each protocol and body format. A user id is sent in the header `user_id`. */
export function createProtocolClients(
  port: number,
  user: string | Readonly<Record<string, string>>,
): readonly ProtocolClient[] {
  const headers = typeof user === "string" ? { user_id: user } : user;
  const baseUrl = `http://127.0.0.1:${port}`;
  return [
    { name: "gRPC (grpc-js)", call: (operation, request) => callGrpcJs(port, headers, operation, request) },
    transportClient("gRPC (connect)", createGrpcTransport({ baseUrl }), headers),
    transportClient("gRPC-Web", createGrpcWebTransport({ baseUrl, httpVersion: "1.1" }), headers),
    transportClient(
      "Connect binary",
      createConnectTransport({ baseUrl, httpVersion: "1.1", useBinaryFormat: true }),
      headers,
    ),
    transportClient(
      "Connect JSON",
      createConnectTransport({ baseUrl, httpVersion: "2", useBinaryFormat: false }),
      headers,
    ),
    restClient("REST JSON", baseUrl, headers, (fields) => ({
      type: "application/json",
      body: JSON.stringify(Object.fromEntries(fields.map(([name, value]) => [name, textFromValue(value)]))),
    })),
    restClient("REST form", baseUrl, headers, (fields) => ({
      type: "application/x-www-form-urlencoded",
      body: new URLSearchParams(
        fields.map(([name, value]): [string, string] => [name, textFromValue(value)]),
      ).toString(),
    })),
    restClient("REST multipart", baseUrl, headers, (fields) => {
      const form = new FormData();
      for (const [name, value] of fields)
        if (value instanceof Uint8Array) form.append(name, new Blob([value.slice()]), "photo.jpg");
        else form.append(name, value);
      return { body: form };
    }),
  ];
}

function transportClient(
  name: string,
  transport: Transport,
  headers: Readonly<Record<string, string>>,
): ProtocolClient {
  const client = createClient(FaceService, transport);
  return {
    name,
    call: async (operation, request) => {
      try {
        const method = client[operation] as unknown as (
          message: Message,
          options: object,
        ) => Promise<Message>;
        return { response: await method(request, { headers }) };
      } catch (fault) {
        const error = ConnectError.from(fault);
        const [info] = error.findDetails(ErrorInfoSchema);
        return { code: info?.metadata.code ?? `none: ${error.message}`, message: error.rawMessage };
      }
    },
  };
}

function callGrpcJs(
  port: number,
  headers: Readonly<Record<string, string>>,
  operation: Operation,
  request: Message,
): Promise<Outcome> {
  const method: DescMethodUnary = FaceService.method[operation];
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
  return new Promise((resolve) => {
    client.makeUnaryRequest(
      `/${FaceService.typeName}/${method.name}`,
      (message: Message) => Buffer.from(toBinary(method.input as DescMessage, message)),
      (bytes: Buffer) => fromBinary(method.output as DescMessage, bytes),
      request,
      metadata,
      (error: ServiceError | null, response?: Message) => {
        client.close();
        resolve(error ? { code: codeFromDetails(error), message: error.details } : { response: response! });
      },
    );
  });
}

/** Reads the envelope code from the status details: a google.rpc.Status with an ErrorInfo. */
function codeFromDetails({ metadata }: ServiceError): string {
  const [status] = metadata.get("grpc-status-details-bin");
  return /code\W{2}(\d{4})/.exec(Buffer.from(status ?? "").toString("latin1"))?.[1] ?? "none";
}

type Field = readonly [name: string, value: string | Uint8Array];

function restClient(
  name: string,
  baseUrl: string,
  userHeaders: Readonly<Record<string, string>>,
  encode: (fields: readonly Field[]) => { type?: string; body: string | FormData },
): ProtocolClient {
  return {
    name,
    call: async (operation, request) => {
      const { type, body } = encode(fieldsFromRequest(request));
      const headers = { ...userHeaders, ...(type && { "content-type": type }) };
      const response = await fetch(`${baseUrl}${PATHS[operation]}`, { method: "POST", headers, body });
      const envelope = (await response.json()) as JsonObject;
      if (envelope.success !== true)
        return { code: String(envelope.code), message: String(envelope.message) };
      const { output } = FaceService.method[operation];
      return { response: fromJson(output as DescMessage, unflatten(envelope)) };
    },
  };
}

const PATHS: Readonly<Record<Operation, string>> = {
  matchFaces: "/match_faces",
  compareFaces: "/compare_faces",
  getImageAttr: "/get_image_attr",
  getFaceVec: "/get_face_vec",
};

/** Converts a request message to the fields that a REST client sends. */
function fieldsFromRequest(request: Message): Field[] {
  const method = Object.values(FaceService.method).find(({ input }) => input.typeName === request.$typeName)!;
  return method.input.fields.flatMap((field): Field[] => {
    if (!isFieldSet(request, field)) return [];
    const value = (request as unknown as Record<string, unknown>)[field.localName];
    if (field.fieldKind === "scalar") return [[field.name, value ? "1" : "0"]];
    if (field.fieldKind === "list")
      return (value as BoundingBox[]).map((box) => [field.name, textFromBox(box)]);
    if (field.name.startsWith("bboxes")) return [[field.name, textFromBox(value as BoundingBox)]];
    return [[field.name, (value as Image).source.value!]];
  });
}

function textFromBox({ x1, y1, x2, y2 }: BoundingBox): string {
  return [x1, y1, x2, y2].join(",");
}

function textFromValue(value: string | Uint8Array): string {
  return typeof value === "string" ? value : Buffer.from(value).toString("base64");
}

/** Restores the map that plain JSON flattens, so that the response can be parsed as a message. */
function unflatten(envelope: JsonObject): JsonObject {
  const data = envelope.data as JsonObject;
  const attributes = data.attributes as JsonObject | undefined;
  if (!attributes) return envelope;
  const { image_size, ...faces } = attributes;
  return { ...envelope, data: { ...data, attributes: { faces, image_size: image_size! } } };
}
