import { create, type DescMethod, type JsonObject, type MessageInitShape } from "@bufbuild/protobuf";
import type { Status } from "../../gen/ts/google/rpc/status_pb.ts";
import {
  AnalyzeImageResponseSchema,
  type AnalyzeImagesRequest,
  AnalyzeImagesRequestSchema,
  type AnalyzeImagesResponseSchema,
  FaceAnalysisService,
} from "../../gen/ts/visage/v1/face_analysis_pb.ts";
import { parseBody } from "../rest/body.ts";
import { createJsonWriter } from "../rest/json-writer.ts";
import { createMessageReader } from "../rest/message-reader.ts";
import type { TextParsers } from "../rest/text-parser.ts";
import { jsonFromStatus, statusJsonFrom } from "../service/error-responses.ts";
import { reasonFromKind } from "../service/error-table.ts";
import type { ItemAnalyzer } from "../service/face-analysis-service.ts";
import { SUCCESS } from "../service/interceptors.ts";
import { mapUnordered } from "../service/map-unordered.ts";
import { withMessageNumber } from "../service/message-number.ts";
import type { PermissionCheck } from "../service/permission-check.ts";
import type { BodyLease } from "./byte-budget.ts";
import { requestErrorFrom } from "./errors.ts";
import type { RequestContext } from "./request-context.ts";
import type { RequestItems } from "./request-items.ts";
import { sendStream } from "./send-stream.ts";
import type { Line, StreamBody } from "./stream-body.ts";

/** Serves a method that streams as lines of JSON: a line is a message. */
export type JsonLines =
  /** Each message of the body is an item. */
  | {
      readonly method: DescMethod;
      serveItems(context: RequestContext, body: StreamBody, items: RequestItems): Promise<void>;
    }
  | { readonly method: DescMethod; serve(context: RequestContext, call: LinesCall): Promise<void> };

/** A request whose body or response has lines. */
export interface LinesCall {
  readonly body: StreamBody;
  /** Takes over the lease of a message, and releases that of the last one. */
  readonly onMessage: (lease: BodyLease) => void;
  readonly variables: Readonly<Record<string, string>>;
  /** Without the question mark. */
  readonly query: string;
}

type Response = MessageInitShape<typeof AnalyzeImagesResponseSchema>;

/** Creates the JSON lines of AnalyzeImages. */
export function createJsonLines(
  analyzeItem: ItemAnalyzer,
  permissions: PermissionCheck,
  parsers: TextParsers,
): JsonLines {
  const method = FaceAnalysisService.method.analyzeImages;
  const readMessage = createMessageReader(AnalyzeImagesRequestSchema, parsers);
  const writeResponse = createJsonWriter(AnalyzeImageResponseSchema);

  /** Answers a line. A line that is not a request has no key and fails alone. */
  async function answerLine({ bytes, number }: Line, items: RequestItems): Promise<JsonObject> {
    const item = items.take();
    const message = await readLine(bytes).catch((fault: unknown) =>
      withMessageNumber(requestErrorFrom(fault), "line", number),
    );
    return jsonFromResponse(await analyzeItem(message, item));
  }

  async function readLine(line: Buffer): Promise<AnalyzeImagesRequest> {
    return (await readMessage([], await parseBody(line, "application/json"))) as AnalyzeImagesRequest;
  }

  function jsonFromResponse({ key = "", result }: Response): JsonObject {
    if (result?.case === "response")
      return { key, response: writeResponse(create(AnalyzeImageResponseSchema, result.value)) };
    return { key, error: jsonFromStatus(result!.value as Status) };
  }

  async function serveItems(context: RequestContext, body: StreamBody, items: RequestItems): Promise<void> {
    permissions.requireMethod(method, context.record.caller!);
    const requests = body.readLines((lease) => items.add(lease));
    const lines = mapUnordered(requests, items.window, (line) => answerLine(line, items));
    const head = { status: 200, headers: { "content-type": "application/x-ndjson" } };
    await sendStream(context, head, encodeLines(context, lines), {
      signal: context.signal,
      isHeadFirst: true,
      onSlowClient: (error) => encodeError(context, error),
      onPartsEnd: () => body.close(),
    });
  }

  return { method, serveItems };
}

/** Encodes lines of a response. An error of the stream itself is the last line; it has no key. */
export async function* encodeLines(
  context: RequestContext,
  lines: AsyncIterable<JsonObject>,
): AsyncGenerator<Uint8Array> {
  try {
    for await (const line of lines) yield encodeLine(line);
    context.record.outcome = SUCCESS;
  } catch (fault) {
    if (context.signal.aborted) throw fault;
    yield encodeError(context, fault);
  }
}

function encodeError(context: RequestContext, fault: unknown): Uint8Array {
  const error = requestErrorFrom(fault);
  context.record.outcome = reasonFromKind(error.kind);
  return encodeLine({ error: statusJsonFrom(error) });
}

function encodeLine(line: JsonObject): Uint8Array {
  return Buffer.from(`${JSON.stringify(line)}\n`);
}
