import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { DescMethodUnary, DescService, JsonValue, Message } from "@bufbuild/protobuf";
import {
  Code,
  ConnectError,
  type ContextValues,
  createContextValues,
  type Transport,
  type UnaryResponse,
} from "@connectrpc/connect";
import { bodyEntries, readBody } from "./body.ts";
import { type CorsOptions, corsHeadersOf } from "./cors.ts";
import { dropBody } from "./drop-body.ts";
import { createMessageReader, type TextForms } from "./fields.ts";
import { formEntries } from "./form.ts";
import { headersForCaller, headersForMethod } from "./headers.ts";
import { jsonWriterOf } from "./json.ts";
import { RestError } from "./rest-error.ts";
import { type Route, routesOf } from "./routes.ts";

export type { TextForm, TextForms } from "./fields.ts";

/** What a REST handler serves, and how. */
export interface RestOptions extends CorsOptions {
  /** A service whose every method is unary and has a google.api.http rule. */
  readonly service: DescService;
  /** Where the methods are called, such as a transport in the same process. */
  readonly transport: Transport;
  /** How long a call may take, from the end of its request's body; then its signal is aborted with a TimeoutError. */
  readonly timeoutMs: number;
  /** How text becomes a message, by the full name of the message type. */
  readonly textForms: TextForms;
  /** Bodies beyond this are refused, before they are read in full. */
  readonly maxRequestBytes: number;
  /** Says any fault in the words of the API: a RestError, a ConnectError, or a fault of our own. Never throws. */
  readonly answerError: (fault: unknown, context: ContextValues) => ErrorAnswer;
}

/** An error as it goes out. */
export interface ErrorAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: JsonValue;
}

/**
 * Serves one request of Node's http, or of http2 by its compatibility interface; methods see the values of the context.
 * Rejects only if answerError throws.
 */
export type RestHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  context?: ContextValues,
) => Promise<void>;

/** Why the signal of a call is aborted whose caller has left. */
const LEFT = new ConnectError("The caller has left.", Code.Canceled);

interface Answer {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  readonly body?: JsonValue;
}

/**
 * Makes the handler that serves a service as plain HTTP and JSON by its google.api.http rules.
 *
 * Throws for a rule that cannot be honoured.
 */
export function createRestHandler(options: RestOptions): RestHandler {
  const routes = routesOf(options.service);
  const translators = new Map(
    [...routes.values()].map((route) => [route, translatorOf(route, options.textForms)]),
  );

  async function serve(
    request: IncomingMessage,
    stopping: AbortController,
    context: ContextValues,
  ): Promise<Answer> {
    const { path, query } = targetOf(request);
    const route = routes.get(path);
    if (!route) throw new RestError("noSuchPath", "There is no such path.");
    if (request.method === "OPTIONS") return preflightAnswer(request, route);
    if (request.method !== route.verb) throw wrongMethod(request, route);
    refuseEncoded(request);
    const body = await readBody(request, options.maxRequestBytes);
    const entries = bodyEntries(body, request.headers["content-type"] ?? "");
    const { read, write } = translators.get(route)!;
    const message = read(formEntries(query), entries);
    const headers = headersForMethod(request.headers);
    const answer = await call(route.method, stopping, headers, message, context);
    return {
      status: 200,
      headers: headersForCaller(answer.header, answer.trailer),
      body: write(answer.message),
    };
  }

  async function call(
    method: DescMethodUnary,
    stopping: AbortController,
    headers: Headers,
    message: Message,
    context: ContextValues,
  ): Promise<UnaryResponse> {
    const { transport, timeoutMs } = options;
    const stop = () => stopping.abort(new DOMException("The request took too long.", "TimeoutError"));
    const timer = setTimeout(stop, timeoutMs);
    try {
      return await transport.unary(method, stopping.signal, timeoutMs, headers, message, context);
    } finally {
      clearTimeout(timer);
    }
  }

  function preflightAnswer(request: IncomingMessage, { verb }: Route): Answer {
    const cors = corsHeadersOf(request.headers, options, [verb]);
    return { status: 204, headers: { allow: `${verb}, OPTIONS`, ...cors } };
  }

  function errorAnswer(fault: unknown, context: ContextValues): Answer {
    const { status, headers, body } = options.answerError(fault, context);
    const passed = fault instanceof ConnectError ? headersForCaller(fault.metadata) : {};
    const allow = fault instanceof RestError && fault.allow ? { allow: fault.allow.join(", ") } : {};
    return { status, headers: { ...passed, ...allow, ...headers }, body };
  }

  return async (request, response, context = createContextValues()) => {
    const stopping = new AbortController();
    let hasLeft = false;
    const leave = () => {
      hasLeft = true;
      stopping.abort(LEFT);
    };
    response.once("close", leave);
    // A socket that breaks under an answer breaks the answer only.
    response.on("error", () => {});
    const answer = await serve(request, stopping, context).catch((fault: unknown) =>
      hasLeft ? undefined : errorAnswer(fault, context),
    );
    if (!answer || hasLeft) return;
    // Nothing is left to stop, and to tell a signal takes a while.
    response.off("close", leave);
    const cors = corsHeadersOf(request.headers, options);
    send(request, response, { ...answer, headers: { ...cors, ...answer.headers } });
  };
}

/** Reads the messages of a method's requests and writes those of its answers. */
function translatorOf({ method }: Route, textForms: TextForms) {
  return { read: createMessageReader(method.input, textForms), write: jsonWriterOf(method.output) };
}

function targetOf(request: IncomingMessage): { path: string; query: string } {
  // Proxies may send the absolute form, with scheme and host.
  const target = (request.url ?? "/").replace(/^https?:\/\/[^/?#]*/i, "");
  const mark = target.indexOf("?");
  return mark < 0
    ? { path: target, query: "" }
    : { path: target.slice(0, mark), query: target.slice(mark + 1) };
}

function wrongMethod({ method }: IncomingMessage, { verb, path }: Route): RestError {
  const allow = [verb, "OPTIONS"];
  return new RestError("wrongMethod", `The path ${path} takes ${verb}, not ${method}.`, { allow });
}

/** Unpacking could make gigabytes of a few bytes, and no client is known to pack images. */
function refuseEncoded({ headers }: IncomingMessage): void {
  if (!/^(identity)?$/i.test(headers["content-encoding"] ?? "")) {
    throw new RestError("unsupportedType", "The body must have no content encoding.");
  }
}

function send(request: IncomingMessage, response: ServerResponse, { status, headers, body }: Answer): void {
  dropBody(request);
  if (body === undefined) {
    response.writeHead(status, headers).end();
    return;
  }
  const bytes = Buffer.from(JSON.stringify(body));
  response.writeHead(status, {
    ...headers,
    "content-type": "application/json",
    "content-length": bytes.length,
  });
  response.end(request.method === "HEAD" ? undefined : bytes);
}
