import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";
import type { DescService, JsonValue } from "@bufbuild/protobuf";
import type { ContextValues, Transport } from "@connectrpc/connect";
import { bodyEntries } from "./body.ts";
import { createMessageReader, type TextForms } from "./fields.ts";
import { formEntries } from "./form.ts";
import { headersForCaller, headersForMethod } from "./headers.ts";
import { jsonWriterOf } from "./json.ts";
import { RestError } from "./rest-error.ts";
import { type Route, routesOf } from "./routes.ts";

export type { TextForm, TextForms } from "./fields.ts";
export type { Route } from "./routes.ts";

/** What is served as REST, and how. */
export interface RestOptions {
  /** A service whose every method is unary and has a google.api.http rule. */
  readonly service: DescService;
  /** Where the methods are called, such as a transport in the same process. */
  readonly transport: Transport;
  /** How text becomes a message, by the full name of the message type. */
  readonly textForms: TextForms;
}

/** A request for a route, its body included. */
export interface RestCall {
  /** Without the question mark. */
  readonly query: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** Aborted when the client leaves or the time is over. */
  readonly signal: AbortSignal;
  /** How long the method may take. */
  readonly timeoutMs: number;
  /** What the method sees as the values of its context. */
  readonly values: ContextValues;
}

/** What a method answered, as plain HTTP. */
export interface RestResult {
  readonly headers: OutgoingHttpHeaders;
  readonly body: JsonValue;
}

/** A service as plain HTTP and JSON, by its google.api.http rules. */
export interface RestHandler {
  /** By path. */
  readonly routes: ReadonlyMap<string, Route>;
  /** Throws RestError for a request that is no message, and what the transport throws. */
  call(route: Route, call: RestCall): Promise<RestResult>;
}

/** Throws for a rule that cannot be honoured. */
export function createRestHandler({ service, transport, textForms }: RestOptions): RestHandler {
  const routes = routesOf(service);
  const translators = new Map([...routes.values()].map((route) => [route, translatorOf(route, textForms)]));
  return {
    routes,
    async call(route, { query, headers, body, signal, timeoutMs, values }) {
      const { read, write } = translators.get(route)!;
      const entries = await bodyEntries(body, headers["content-type"] ?? "");
      const message = await read(formEntries(query), entries);
      const passed = headersForMethod(headers);
      const response = await transport.unary(route.method, signal, timeoutMs, passed, message, values);
      return {
        headers: headersForCaller(response.header, response.trailer),
        body: write(response.message),
      };
    },
  };
}

/** Rejects a body with a content encoding: a few bytes could become gigabytes, and no client compresses images. */
export function requireIdentityEncoding(headers: IncomingHttpHeaders): void {
  if (/^(identity)?$/i.test(headers["content-encoding"] ?? "")) return;
  throw new RestError("unsupportedEncoding", "The body must have no content encoding.");
}

/** Reads the messages of a method's requests and writes those of its responses. */
function translatorOf({ method }: Route, textForms: TextForms) {
  return { read: createMessageReader(method.input, textForms), write: jsonWriterOf(method.output) };
}
