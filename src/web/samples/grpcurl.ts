import { messageOf, streamMessagesOf } from "./message-json.ts";
import { type SampleDestination, type SampleRequest, sampleOperation, textField } from "./sample-request.ts";
import { commandLines, indent, keyHeader, printMessage, shellQuote } from "./shell.ts";

/** Writes a request as a grpcurl command. It needs no proto file, because the service supports reflection. */
export function grpcurlSample(request: SampleRequest, destination: SampleDestination): string {
  const { body, method } = sampleOperation(request.operation);
  const { images, fields = {} } = request;
  const call = (data: string) => grpcurl(request, destination, data);
  if (body === "lines" && method === "GET")
    return `${call(`-d ${shellQuote(JSON.stringify(fields))}`)} > ${linesFile(request)}`;
  if (body === "lines" && !images) {
    // The first message must name the gallery, which an exported line does not. The time of a line is not imported.
    const gallery = `{"galleryId":${JSON.stringify(textField(request, "galleryId"))},`;
    return `sed ${shellQuote(`s/^{/${gallery}/`)} ${linesFile(request)} \\\n  | ${call("-allow-unknown-fields -d @")}`;
  }
  if (body === "lines") {
    const lines = streamMessagesOf(request).map(printMessage).join("\n");
    return `{\n${indent(lines)}\n} | ${call("-d @")}`;
  }
  if (images) return `${printMessage(messageOf(request, fields))} \\\n  | ${call("-d @")}`;
  return call(`-d ${shellQuote(JSON.stringify({ ...fields, limits: request.limits }))}`);
}

function grpcurl({ operation }: SampleRequest, destination: SampleDestination, data: string): string {
  const { protocol, host, port } = new URL(destination.address);
  const isTls = protocol === "https:";
  const target = port ? host : `${host}:${isTls ? 443 : 80}`;
  return commandLines(
    `grpcurl ${isTls ? "" : "-plaintext "}-H ${keyHeader(operation, destination)}`,
    data,
    `${target} ${sampleOperation(operation).rpc}`,
  );
}

function linesFile({ linesFile: file = "faces.jsonl" }: SampleRequest): string {
  return shellQuote(file);
}
