import {
  type DescMessage,
  type DescMethodUnary,
  fromBinary,
  fromJson,
  type JsonObject,
  type Message,
  toBinary,
  toJson,
} from "@bufbuild/protobuf";
import { anyUnpack } from "@bufbuild/protobuf/wkt";
import { ConnectError, createClient, type Transport } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from "@connectrpc/connect-node";
import { Client, credentials, Metadata, type ServiceError } from "@grpc/grpc-js";
import { ErrorInfoSchema } from "../../gen/ts/google/rpc/error_details_pb.ts";
import { type Status, StatusSchema } from "../../gen/ts/google/rpc/status_pb.ts";
import { type AnalyzeImageRequest, FaceAnalysisService } from "../../gen/ts/visage/v1/face_analysis_pb.ts";

/** The unary operations of the typed API. */
export type TypedOperation = "analyzeImage" | "compareFaces";

/** A response, or the reason of an error. */
export type TypedOutcome = { readonly response: Message } | { readonly reason: string };

/** A client of the typed API for one protocol. The same request has the same outcome with every client. */
export interface TypedClient {
  readonly name: string;
  call(operation: TypedOperation, request: Message): Promise<TypedOutcome>;
}

const PATHS = { analyzeImage: "/v1/images:analyze", compareFaces: "/v1/faces:compare" };

/** Creates a client for each protocol and body format. */
export function createTypedClients(port: number, key: string): readonly TypedClient[] {
  const headers = { authorization: `Bearer ${key}` };
  const baseUrl = `http://127.0.0.1:${port}`;
  const connect = (name: string, transport: Transport) => connectClient(name, transport, headers);
  const json = { useBinaryFormat: false, baseUrl };
  return [
    { name: "gRPC (grpc-js)", call: (operation, request) => callGrpcJs(port, headers, operation, request) },
    connect("gRPC (connect)", createGrpcTransport({ baseUrl })),
    connect("gRPC-Web", createGrpcWebTransport({ baseUrl, httpVersion: "1.1" })),
    connect("Connect binary", createConnectTransport({ baseUrl, httpVersion: "1.1", useBinaryFormat: true })),
    connect("Connect JSON", createConnectTransport({ ...json, httpVersion: "2" })),
    { name: "REST JSON", call: (operation, request) => callRest(baseUrl, headers, operation, request) },
    {
      name: "REST multipart",
      call: (operation, request) =>
        // An embedding has no form in multipart bodies.
        operation === "analyzeImage"
          ? callRest(baseUrl, headers, operation, request, formFromRequest(request as AnalyzeImageRequest))
          : callRest(baseUrl, headers, operation, request),
    },
  ];
}

function connectClient(
  name: string,
  transport: Transport,
  headers: Readonly<Record<string, string>>,
): TypedClient {
  const client = createClient(FaceAnalysisService, transport);
  return {
    name,
    async call(operation, request) {
      try {
        return { response: await client[operation](request as never, { headers }) };
      } catch (fault) {
        const [info] = ConnectError.from(fault).findDetails(ErrorInfoSchema);
        return { reason: info?.reason ?? `none: ${fault}` };
      }
    },
  };
}

function callGrpcJs(
  port: number,
  headers: Readonly<Record<string, string>>,
  operation: TypedOperation,
  request: Message,
): Promise<TypedOutcome> {
  const method: DescMethodUnary = FaceAnalysisService.method[operation];
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
  return new Promise((resolve) => {
    client.makeUnaryRequest(
      `/${FaceAnalysisService.typeName}/${method.name}`,
      (message: Message) => Buffer.from(toBinary(method.input as DescMessage, message)),
      (bytes: Buffer) => fromBinary(method.output as DescMessage, bytes),
      request,
      metadata,
      (error: ServiceError | null, response?: Message) => {
        client.close();
        resolve(error ? { reason: reasonFrom(error) } : { response: response! });
      },
    );
  });
}

/** Reads the reason from the status details: a google.rpc.Status with an ErrorInfo. */
function reasonFrom({ metadata }: ServiceError): string {
  const [bytes] = metadata.get("grpc-status-details-bin") as Buffer[];
  return bytes ? reasonOf(fromBinary(StatusSchema, bytes)) : "none";
}

/** Returns the reason of an error's google.rpc.ErrorInfo. */
export function reasonOf({ details }: Status): string {
  const [info] = details.flatMap((detail) => anyUnpack(detail, ErrorInfoSchema) ?? []);
  return info?.reason ?? "none";
}

async function callRest(
  baseUrl: string,
  userHeaders: Readonly<Record<string, string>>,
  operation: TypedOperation,
  request: Message,
  form?: FormData,
): Promise<TypedOutcome> {
  const { input, output }: DescMethodUnary = FaceAnalysisService.method[operation];
  const body = form ?? JSON.stringify(toJson(input as DescMessage, request));
  const headers = { ...userHeaders, ...(!form && { "content-type": "application/json" }) };
  const response = await fetch(`${baseUrl}${PATHS[operation]}`, { method: "POST", headers, body });
  const json = (await response.json()) as JsonObject;
  return response.ok ? { response: fromJson(output as DescMessage, json) } : { reason: String(json.reason) };
}

function formFromRequest({ image, features, boxes, maxFaces }: AnalyzeImageRequest): FormData {
  const form = new FormData();
  const source = image?.source;
  if (source?.case === "content") form.append("image", new Blob([source.value.slice()]), "photo.jpg");
  if (source?.case === "url") form.append("image", source.value);
  for (const feature of features) form.append("features", String(feature));
  for (const { x1, y1, x2, y2 } of boxes) form.append("boxes", `${x1},${y1},${x2},${y2}`);
  if (maxFaces) form.append("max_faces", String(maxFaces));
  return form;
}
