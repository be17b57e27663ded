import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";
import type { DescMethodUnary, DescService, JsonValue, Message } from "@bufbuild/protobuf";
import type { ContextValues, Transport } from "@connectrpc/connect";
import { parseBody } from "./body.ts";
import { parseForm } from "./form.ts";
import { headersForCaller, headersForMethod } from "./headers.ts";
import { createJsonWriter, type JsonWriter } from "./json-writer.ts";
import { createMessageReader } from "./message-reader.ts";
import { RestError } from "./rest-error.ts";
import { type Route, readRoutes } from "./routes.ts";
import type { TextParsers } from "./text-parser.ts";

/** Options of a REST handler. */
export interface RestOptions {
  /** A service whose every method is unary and has a google.api.http rule. */
  readonly service: DescService;
  /** Calls the methods, for example in the same process. */
  readonly transport: Transport;
  /** The parsers of text and files, by the full name of their message type. */
  readonly textParsers: TextParsers;
  /** Creates the writer of a method's responses; by default that of Protobuf's JSON form. */
  readonly createWriter?: ((method: DescMethodUnary) => JsonWriter<Message>) | undefined;
}

/** A request with its body. */
export interface RestCall {
  /** The variables of the path. They replace fields of the same names in query and body. */
  readonly variables: Readonly<Record<string, string>>;
  /** Without the question mark. */
  readonly query: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** Aborted when the client leaves or the timeout has passed. */
  readonly signal: AbortSignal;
  /** How long the method may take. */
  readonly timeoutMs: number;
  /** The context values for the method. */
  readonly values: ContextValues;
}

/** The response of a method as plain HTTP. */
export interface RestResult {
  readonly headers: OutgoingHttpHeaders;
  readonly body: JsonValue;
}

/** Serves a service over plain HTTP and JSON, by its google.api.http rules. */
export interface RestHandler {
  readonly routes: readonly Route[];
  /** Throws RestError for a request that cannot be converted to a message, and whatever the transport throws. */
  call(route: Route, call: RestCall): Promise<RestResult>;
}

/** Throws if the service has a rule that is not supported. */
export function createRestHandler({
  service,
  transport,
  textParsers,
  createWriter = ({ output }) => createJsonWriter(output),
}: RestOptions): RestHandler {
  const routes = readRoutes(service);
  const createCodec = ({ method }: Route) => ({
    read: createMessageReader(method.input, textParsers),
    write: createWriter(method),
  });
  const codecs = new Map(routes.map((route) => [nameOf(route), createCodec(route)]));
  return {
    routes,
    async call(route, { variables, query, headers, body, signal, timeoutMs, values }) {
      const { read, write } = codecs.get(nameOf(route))!;
      const entries = await parseBody(body, headers["content-type"] ?? "");
      const fromPath = Object.entries(variables).map(([name, value]) => ({ name, value }));
      const names = new Set(
        route.method.input.fields
          .filter((field) => Object.hasOwn(variables, field.name))
          .flatMap((field) => [field.name, field.jsonName]),
      );
      const fromQuery = parseForm(query).filter(({ name }) => !names.has(name));
      const message = await read([...fromQuery, ...fromPath], entries);
      const header = headersForMethod(headers);
      const response = await transport.unary(route.method, signal, timeoutMs, header, message, values);
      return {
        headers: headersForCaller(response.header, response.trailer),
        body: write(response.message),
      };
    },
  };
}

/** Names a route in the same way for all handlers of a service. */
function nameOf({ verb, path }: Route): string {
  return `${verb} ${path}`;
}

/** Throws RestError for a compressed body: a few bytes could become gigabytes, and no client compresses images. */
export function requireIdentityEncoding(headers: IncomingHttpHeaders): void {
  if (/^(identity)?$/i.test(headers["content-encoding"] ?? "")) return;
  throw new RestError("unsupportedEncoding", "The body must have no content encoding.");
}
