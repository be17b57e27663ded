import {
  create,
  type DescMessage,
  type DescMethodUnary,
  fromBinary,
  fromJson,
  type JsonObject,
  type Message,
  type MessageInitShape,
  type MessageShape,
  toBinary,
  toJson,
} from "@bufbuild/protobuf";
import { ConnectError, type Transport } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from "@connectrpc/connect-node";
import { Client, credentials, Metadata, type ServiceError } from "@grpc/grpc-js";
import { ErrorInfoSchema } from "../../gen/ts/google/rpc/error_details_pb.ts";
import { StatusSchema } from "../../gen/ts/google/rpc/status_pb.ts";
import { readRoutes } from "../../src/rest/routes.ts";
import { createExampleRequest } from "../../tools/openapi/example-request.ts";
import { reasonOf } from "./typed-clients.ts";

/** A client of any service for one protocol. */
export interface UnaryClient {
  readonly name: string;
  /** Returns the response. Rejects with a ReasonError. */
  call<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    request: MessageInitShape<I>,
  ): Promise<MessageShape<O>>;
}

/** A call that failed. The message is the reason. */
export class ReasonError extends Error {}

type Send = (method: DescMethodUnary, request: Message) => Promise<Message>;
type HeaderList = Readonly<Record<string, string>>;

/** Creates a client for each protocol. */
export function createUnaryClients(port: number, headers: HeaderList): readonly UnaryClient[] {
  const baseUrl = `http://127.0.0.1:${port}`;
  const json = { useBinaryFormat: false, baseUrl };
  return [
    client("gRPC (grpc-js)", (method, request) => callGrpcJs(port, headers, method, request)),
    client("gRPC (connect)", throughConnect(createGrpcTransport({ baseUrl }), headers)),
    client("gRPC-Web", throughConnect(createGrpcWebTransport({ baseUrl, httpVersion: "1.1" }), headers)),
    client("Connect JSON", throughConnect(createConnectTransport({ ...json, httpVersion: "2" }), headers)),
    createRestClient(port, headers),
  ];
}

/** Creates a client for plain HTTP. */
export function createRestClient(port: number, headers: HeaderList): UnaryClient {
  return client("REST", (method, request) => callRest(`http://127.0.0.1:${port}`, headers, method, request));
}

function client(name: string, send: Send): UnaryClient {
  return {
    name,
    call: (method, request) => send(method, create(method.input, request)) as Promise<never>,
  };
}

function throughConnect(transport: Transport, headers: HeaderList): Send {
  return async (method, request) => {
    try {
      return (await transport.unary(method, undefined, undefined, headers, request)).message;
    } catch (fault) {
      const [info] = ConnectError.from(fault).findDetails(ErrorInfoSchema);
      throw new ReasonError(info?.reason ?? String(fault));
    }
  };
}

function callGrpcJs(
  port: number,
  headers: HeaderList,
  method: DescMethodUnary,
  request: Message,
): Promise<Message> {
  const channel = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
  return new Promise((resolve, reject) => {
    channel.makeUnaryRequest(
      `/${method.parent.typeName}/${method.name}`,
      (message: Message) => Buffer.from(toBinary(method.input, message)),
      (bytes: Buffer) => fromBinary(method.output, bytes),
      request,
      metadata,
      (error: ServiceError | null, response?: Message) => {
        channel.close();
        if (error) reject(new ReasonError(reasonFrom(error)));
        else resolve(response!);
      },
    );
  });
}

function reasonFrom({ metadata, message }: ServiceError): string {
  const [bytes] = metadata.get("grpc-status-details-bin") as Buffer[];
  return bytes ? reasonOf(fromBinary(StatusSchema, bytes)) : message;
}

async function callRest(
  baseUrl: string,
  headers: HeaderList,
  method: DescMethodUnary,
  request: Message,
): Promise<Message> {
  const route = readRoutes(method.parent).find((one) => one.method.name === method.name)!;
  const message = toJson(method.input, request) as JsonObject;
  const { target, ...init } = createExampleRequest(route, message);
  const response = await fetch(`${baseUrl}${target}`, {
    ...init,
    headers: { ...headers, "content-type": "application/json" },
  });
  const json = (await response.json()) as JsonObject;
  // An unknown path has the envelope of face.v1.
  if (!response.ok) throw new ReasonError(String(json.reason ?? (json.data as JsonObject)?.reason));
  return fromJson(method.output, json);
}
