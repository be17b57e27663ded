import { connect } from "node:net";
import { ERRORS } from "../../src/service/error-table.ts";
import type { Case } from "./cases.ts";

/** A case with a faulty response. */
export interface Failure {
  readonly failed: Case;
  readonly fault: string;
}

const PARALLEL = 8;

/** The longest time to a response. The service waits ten seconds for the rest of an incomplete request. */
const MAX_RESPONSE_MS = { validHttp: 10_000, invalidHttp: 15_000 };

const ENVELOPE_KEYS = ["code", "data", "message", "status", "success"];

/** The allowed pairs of HTTP status and envelope code: all but internal errors. */
const ALLOWED_OUTCOMES = new Set([
  "200 1000",
  ...Object.entries(ERRORS).flatMap(([kind, { http, code }]) =>
    kind === "internal" ? [] : [`${http} ${code}`],
  ),
]);

/** Runs cases until there are no more or the signal aborts. Resolves to the number of cases that ran. */
export async function runCases(
  port: number,
  cases: Iterator<Case>,
  onFailure: (failure: Failure) => void,
  signal?: AbortSignal,
): Promise<number> {
  let tried = 0;
  const runLane = async () => {
    for (let next = cases.next(); !next.done && !signal?.aborted; next = cases.next()) {
      const fault = await runCase(port, next.value);
      tried++;
      if (fault) onFailure({ failed: next.value, fault });
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, runLane));
  return tried;
}

/** Sends a case over its own connection. Resolves to a description of the fault, if there is one. */
export async function runCase(port: number, { request, isValidHttp }: Case): Promise<string | undefined> {
  const timeoutMs = isValidHttp ? MAX_RESPONSE_MS.validHttp : MAX_RESPONSE_MS.invalidHttp;
  const response = await sendRequest(port, request, isValidHttp, timeoutMs);
  if (response === undefined) return `No response came within ${timeoutMs} ms.`;
  if (response.length === 0) return isValidHttp ? "The connection was closed without a response." : undefined;
  return isValidHttp ? findEnvelopeFault(response) : findStatusFault(response);
}

/** Resolves to all bytes until the service closes the connection, or to undefined if it does not. */
function sendRequest(
  port: number,
  request: Buffer,
  isValidHttp: boolean,
  timeoutMs: number,
): Promise<Buffer | undefined> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const socket = connect(port, "127.0.0.1");
    socket.setTimeout(timeoutMs, () => {
      resolve(undefined);
      socket.destroy();
    });
    socket.on("data", (chunk) => chunks.push(chunk));
    // The service may close the connection while we still send; the bytes received before count.
    socket.on("error", () => {});
    socket.on("close", () => resolve(Buffer.concat(chunks)));
    // Invalid HTTP may announce more bytes than it has. FIN tells the service that none follow.
    if (isValidHttp) socket.write(request);
    else socket.end(request);
  });
}

function findEnvelopeFault(response: Buffer): string | undefined {
  const [head = "", body = ""] = response.toString().split(/\r\n\r\n(.*)/s);
  const excerpt = `${head}\n${body.slice(0, 300)}`;
  if (!/^x-request-id: [\w.:-]+$/im.test(head)) return `The response has no request id: ${excerpt}`;
  const envelope = parseJson(body);
  if (!envelope || Object.keys(envelope).sort().join() !== ENVELOPE_KEYS.join())
    return `The body is not an envelope: ${excerpt}`;
  const outcome = `${statusOf(response)} ${envelope.code}`;
  if (!ALLOWED_OUTCOMES.has(outcome)) return `The outcome is not in the error table: ${excerpt}`;
  const isSuccess = envelope.code === "1000";
  const isConsistent = envelope.success === isSuccess && envelope.status === (isSuccess ? "ok" : "error");
  return isConsistent ? undefined : `The envelope contradicts itself: ${excerpt}`;
}

function parseJson(text: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Checks the status line only: invalid HTTP may be no request, several requests, or one for another endpoint. */
function findStatusFault(response: Buffer): string | undefined {
  const status = statusOf(response);
  const isHttp2 = response.readUInt8(3) === 4 && response.readUInt8(0) === 0;
  if (isHttp2 || (status >= 100 && status !== 500 && status < 600)) return undefined;
  return `Not an HTTP response, or an internal error: ${response.toString("latin1", 0, 300)}`;
}

function statusOf(response: Buffer): number {
  return Number(/^HTTP\/1\.1 (\d{3}) /.exec(response.toString("latin1", 0, 20))?.[1]);
}
