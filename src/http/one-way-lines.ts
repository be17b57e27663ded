import type {
  DescMethodClientStreaming,
  DescMethodServerStreaming,
  JsonObject,
  Message,
} from "@bufbuild/protobuf";
import type { ContextValues, Transport } from "@connectrpc/connect";
import { createAsyncIterable } from "@connectrpc/connect/protocol";
import { parseBody } from "../rest/body.ts";
import { parseForm } from "../rest/form.ts";
import { headersForMethod } from "../rest/headers.ts";
import { createJsonWriter } from "../rest/json-writer.ts";
import { createMessageReader } from "../rest/message-reader.ts";
import type { TextParsers } from "../rest/text-parser.ts";
import { LAST_LINE, withMessageNumber } from "../service/message-number.ts";
import { contextValuesWith } from "../service/request-record.ts";
import { requestErrorFrom } from "./errors.ts";
import { encodeLines, type JsonLines, type LinesCall } from "./json-lines.ts";
import type { RequestContext } from "./request-context.ts";
import { sendResponse } from "./send-response.ts";
import { sendStream } from "./send-stream.ts";

/** Serves a method whose response is a stream: its request is in the path and the query, a line is a message. */
export function createResponseLines(
  method: DescMethodServerStreaming,
  transport: Transport,
  parsers: TextParsers,
): JsonLines {
  const read = createMessageReader(method.input, parsers);
  const write = createJsonWriter(method.output);

  async function serve(context: RequestContext, { variables, query }: LinesCall): Promise<void> {
    const request = await read([...parseForm(query), ...entriesFrom(variables)], []);
    const values = contextValuesWith(context.record);
    const responses = await callMethod(context, method, transport, createAsyncIterable([request]), values);
    // An error before the first message has its HTTP status.
    const first = await responses.next();
    const lines = (async function* () {
      try {
        for (let next = first; !next.done; next = await responses.next())
          yield write(next.value) as JsonObject;
      } finally {
        await responses.return?.();
      }
    })();
    const head = { status: 200, headers: { "content-type": "application/x-ndjson" } };
    await sendStream(context, head, encodeLines(context, lines), { signal: context.signal });
  }

  return { method, serve };
}

/** Serves a method whose request is a stream: a line of the body is a message, and the response is JSON. */
export function createRequestLines(
  method: DescMethodClientStreaming,
  transport: Transport,
  parsers: TextParsers,
): JsonLines {
  const read = createMessageReader(method.input, parsers);
  const write = createJsonWriter(method.output);

  async function* readMessages(
    { body, onMessage, variables }: LinesCall,
    onLine: (number: number) => void,
  ): AsyncGenerator<Message> {
    for await (const { bytes, number } of body.readLines(onMessage)) {
      onLine(number);
      yield await readLine(bytes, variables).catch((fault: unknown) => {
        throw withMessageNumber(requestErrorFrom(fault), "line", number);
      });
    }
  }

  async function readLine(line: Buffer, variables: LinesCall["variables"]): Promise<Message> {
    return read(entriesFrom(variables), await parseBody(line, "application/json"));
  }

  async function serve(context: RequestContext, call: LinesCall): Promise<void> {
    let lastLine = 0;
    const messages = readMessages(call, (number) => {
      lastLine = number;
    });
    const values = contextValuesWith(context.record).set(LAST_LINE, () => lastLine);
    const responses = await callMethod(context, method, transport, messages, values);
    const { value } = await responses.next();
    // The outcome of the request is recorded at the end of the stream.
    await responses.next();
    sendResponse(context, {
      status: 200,
      headers: { "content-type": "application/json" },
      body: JSON.stringify(write(value)),
    });
  }

  return { method, serve };
}

async function callMethod(
  { request, signal }: RequestContext,
  method: DescMethodClientStreaming | DescMethodServerStreaming,
  transport: Transport,
  messages: AsyncIterable<Message>,
  values: ContextValues,
): Promise<AsyncIterator<Message>> {
  const header = headersForMethod(request.headers);
  const response = await transport.stream(method, signal, undefined, header, messages as never, values);
  return response.message[Symbol.asyncIterator]();
}

function entriesFrom(variables: LinesCall["variables"]) {
  return Object.entries(variables).map(([name, value]) => ({ name, value }));
}
