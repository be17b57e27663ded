import { createSocket } from "node:dgram";
import { once } from "node:events";
import ipaddr from "ipaddr.js";
import { onTestFinished } from "vitest";

/** The DNS records of a name. A family without a member has no records. */
export interface Records {
  readonly a?: readonly string[];
  readonly aaaa?: readonly string[];
  /** The name is an alias of this one, which must be in the zone too. */
  readonly cname?: string;
  /** Answers with an error: 2 is SERVFAIL. */
  readonly rcode?: number;
  /** Does not answer queries of these families. */
  readonly silent?: readonly ("a" | "aaaa")[];
}

/** A DNS server on loopback. */
export interface DnsServer {
  /** In the form that the resolver's `servers` expects. */
  readonly address: string;
  /** Every query, as `a example.org`, in the order of arrival. */
  readonly queries: string[];
}

const TYPES = { 1: "a", 28: "aaaa" } as const;
const CNAME = 5;
const NXDOMAIN = 3;
const HEADER_BYTES = 12;

/** A name that is never answered. */
export const SILENT: Records = { silent: ["a", "aaaa"] };

/** Serves a zone over UDP until the end of the test. A name that is not in the zone does not exist (NXDOMAIN). */
export async function startDnsServer(zone: Readonly<Record<string, Records>>): Promise<DnsServer> {
  const queries: string[] = [];
  const socket = createSocket("udp4");
  socket.on("message", (query, { port, address }) => {
    const { name, type, end } = parseQuestion(query);
    const family = TYPES[type as keyof typeof TYPES];
    queries.push(`${family} ${name}`);
    if (zone[name]?.silent?.includes(family)) return;
    const answers: Buffer[] = [];
    let owner = name;
    for (let target = zone[owner]?.cname; target !== undefined; target = zone[owner]?.cname) {
      answers.push(encodeRecord(owner, CNAME, encodeName(target)));
      owner = target;
    }
    for (const text of zone[owner]?.[family] ?? [])
      answers.push(encodeRecord(owner, type, Buffer.from(ipaddr.parse(text).toByteArray())));
    const header = Buffer.alloc(HEADER_BYTES);
    query.copy(header, 0, 0, 2);
    header.writeUInt16BE(0x8180 | (zone[name] ? (zone[name].rcode ?? 0) : NXDOMAIN), 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(answers.length, 6);
    socket.send(Buffer.concat([header, query.subarray(HEADER_BYTES, end), ...answers]), port, address);
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  onTestFinished(() => void socket.close());
  return { address: `127.0.0.1:${socket.address().port}`, queries };
}

function parseQuestion(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = query[at]!; length > 0; length = query[at]!) {
    labels.push(query.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join(".").toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}

function encodeRecord(name: string, type: number, data: Buffer): Buffer {
  const fields = Buffer.alloc(10);
  fields.writeUInt16BE(type, 0);
  fields.writeUInt16BE(1, 2);
  fields.writeUInt32BE(60, 4);
  fields.writeUInt16BE(data.length, 8);
  return Buffer.concat([encodeName(name), fields, data]);
}

function encodeName(name: string): Buffer {
  const labels = name.split(".").map((label) => Buffer.concat([Buffer.of(label.length), Buffer.from(label)]));
  return Buffer.concat([...labels, Buffer.of(0)]);
}
