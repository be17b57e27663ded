import { connect } from "node:net";
import { ERRORS } from "../../src/service/error-table.ts";
import type { Case } from "./cases.ts";

/** The longest that an answer may take; on what may be no request the service waits ten seconds for its rest. */
const MOST_MS = { sound: 10_000, unsound: 15_000 };

const ENVELOPE_KEYS = ["code", "data", "message", "status", "success"];

/** What an answer may be, as HTTP status and envelope code. An internal error is none of them. */
const ALLOWED = new Set([
  "200 1000",
  ...Object.entries(ERRORS).flatMap(([kind, { http, code }]) =>
    kind === "internal" ? [] : [`${http} ${code}`],
  ),
]);

/** Sends a case over a socket of its own; gives what is wrong with the answer, or nothing. */
export async function faultOf(port: number, { request, isSound }: Case): Promise<string | undefined> {
  const mostMs = isSound ? MOST_MS.sound : MOST_MS.unsound;
  const answer = await answerTo(port, request, isSound, mostMs);
  if (answer === undefined) return `No answer came within ${mostMs} ms.`;
  if (answer.length === 0) return isSound ? "The connection was closed without an answer." : undefined;
  return isSound ? envelopeFault(answer) : statusFault(answer);
}

/** All bytes until the service closes the connection; nothing where it does not. */
function answerTo(
  port: number,
  request: Buffer,
  isSound: boolean,
  mostMs: number,
): Promise<Buffer | undefined> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const socket = connect(port, "127.0.0.1");
    socket.setTimeout(mostMs, () => {
      resolve(undefined);
      socket.destroy();
    });
    socket.on("data", (chunk) => chunks.push(chunk));
    // The service may close while bytes are still under way to it; what it said before counts.
    socket.on("error", () => {});
    socket.on("close", () => resolve(Buffer.concat(chunks)));
    // What is no request may promise more than it holds: its end says that nothing follows.
    if (isSound) socket.write(request);
    else socket.end(request);
  });
}

function envelopeFault(answer: Buffer): string | undefined {
  const [head = "", body = ""] = answer.toString().split(/\r\n\r\n(.*)/s);
  const told = `${head}\n${body.slice(0, 300)}`;
  if (!/^x-request-id: [\w.:-]+$/im.test(head)) return `The answer has no request id: ${told}`;
  const envelope = parsed(body);
  if (!envelope || Object.keys(envelope).sort().join() !== ENVELOPE_KEYS.join())
    return `Not an envelope: ${told}`;
  const outcome = `${statusOf(answer)} ${envelope.code}`;
  if (!ALLOWED.has(outcome)) return `Not an outcome of the table: ${told}`;
  const isSuccess = envelope.code === "1000";
  const isConsistent = envelope.success === isSuccess && envelope.status === (isSuccess ? "ok" : "error");
  return isConsistent ? undefined : `The envelope contradicts itself: ${told}`;
}

function parsed(json: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

/** Of answers to what may be no request, or several, or not ours, only the first line is known. */
function statusFault(answer: Buffer): string | undefined {
  const status = statusOf(answer);
  const isHttp2 = answer.readUInt8(3) === 4 && answer.readUInt8(0) === 0;
  if (isHttp2 || (status >= 100 && status !== 500 && status < 600)) return undefined;
  return `Not an answer: ${answer.toString("latin1", 0, 300)}`;
}

function statusOf(answer: Buffer): number {
  return Number(/^HTTP\/1\.1 (\d{3}) /.exec(answer.toString("latin1", 0, 20))?.[1]);
}
