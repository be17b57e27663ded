import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type ClientHttp2Session, connect } from "node:http2";
import { type RequestOptions, request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { Client, credentials, Metadata, type ServiceError } from "@grpc/grpc-js";
import { type CertificateField, generate, type SelfsignedOptions } from "selfsigned";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openAccountStore } from "../../src/accounts/open-account-store.ts";
import type { RunningService } from "../../src/main.ts";
import { addTestUser } from "../support/accounts.ts";
import { captureLog } from "../support/log.ts";
import { startTestService, USER } from "../support/service.ts";

interface Pair {
  readonly cert: string;
  readonly key: string;
}

const folder = mkdtempSync(join(tmpdir(), "visage-mtls-"));
const files = {
  VISAGE_TLS_CERT: join(folder, "cert.pem"),
  VISAGE_TLS_KEY: join(folder, "key.pem"),
  VISAGE_TLS_CLIENT_CA: join(folder, "clients.pem"),
};
let service: RunningService;
const captured = captureLog();
let server: Pair;
let authority: Pair;
let otherAuthority: Pair;
let clients: Record<"anna" | "bela" | "nobody" | "expired" | "untrusted" | "serverOnly" | "twoNames", Pair>;

async function createAuthority(name: string): Promise<Pair> {
  return createPair([{ name: "commonName", value: name }], {
    extensions: [
      { name: "basicConstraints", cA: true, critical: true },
      { name: "keyUsage", keyCertSign: true, critical: true },
    ],
  });
}

async function createPair(subject: CertificateField[], options: SelfsignedOptions = {}): Promise<Pair> {
  const pems = await generate(subject, options);
  return { cert: pems.cert, key: pems.private };
}

/** Creates a certificate for clients, signed by an authority. */
function createClientPair(names: readonly string[], options: SelfsignedOptions = {}): Promise<Pair> {
  const subject = names.map((value) => ({ name: "commonName", value }));
  return createPair(subject, {
    ca: authority,
    extensions: [{ name: "extKeyUsage", clientAuth: true }],
    ...options,
  });
}

beforeAll(async () => {
  [server, authority, otherAuthority] = await Promise.all([
    createPair([{ name: "commonName", value: "localhost" }], {
      extensions: [{ name: "subjectAltName", altNames: [{ type: 2, value: "localhost" }] }],
    }),
    createAuthority("clients of visage"),
    createAuthority("somebody else"),
  ]);
  const longAgo = { notBeforeDate: new Date("2020-01-01"), notAfterDate: new Date("2021-01-01") };
  const [anna, bela, nobody, expired, untrusted, serverOnly, twoNames] = await Promise.all([
    createClientPair(["anna.example"]),
    createClientPair(["bela.example"]),
    createClientPair(["nobody.example"]),
    createClientPair(["anna.example"], longAgo),
    createClientPair(["anna.example"], { ca: otherAuthority }),
    createClientPair(["anna.example"], { extensions: [{ name: "extKeyUsage", serverAuth: true }] }),
    createClientPair(["bela.example", "anna.example"]),
  ]);
  clients = { anna, bela, nobody, expired, untrusted, serverOnly, twoNames };
  writeFileSync(files.VISAGE_TLS_CERT, server.cert);
  writeFileSync(files.VISAGE_TLS_KEY, server.key);
  writeFileSync(files.VISAGE_TLS_CLIENT_CA, authority.cert);
  const dataDir = join(folder, "data");
  const settings = { ...files, VISAGE_DATA_DIR: dataDir, VISAGE_TRUSTED_PROXIES: "127.0.0.1" };
  service = await startTestService(settings, captured.log);
  const store = await openAccountStore({ databaseUrl: undefined, dataDir });
  await addTestUser(store, "anna-key", {}, { name: "anna", certificateSubject: "anna.example" });
  await addTestUser(store, "bela-key", {}, { name: "bela", certificateSubject: "bela.example" });
  await store.close();
});
afterAll(async () => {
  await service.close();
  rmSync(folder, { recursive: true });
});

test("a certificate that is rejected is logged with the client address", async () => {
  for (const pair of [clients.untrusted, clients.nobody]) {
    await sendHttp1({ pair });
    const line = {
      outcome: "UNKNOWN_USER",
      credential: "certificate",
      "client.address": `198.51.0.${calls}`,
    };
    await expect.poll(() => captured.lines.at(-1)).toMatchObject(line);
  }
});

interface Call {
  readonly pair?: Pair | undefined;
  readonly key?: string | undefined;
  readonly path?: string;
}

/** Every call comes from another address, so that failures do not limit later calls. */
let calls = 0;
function headersOf({ key }: Call): Record<string, string> {
  const address = `198.51.${Math.floor(++calls / 200)}.${calls % 200}`;
  return { "x-forwarded-for": address, ...(key !== undefined && { authorization: `Bearer ${key}` }) };
}

const tlsOptions = (pair: Pair | undefined) => ({ ca: server.cert, servername: "localhost", ...pair });

interface Answer {
  readonly status: number | undefined;
  readonly code?: string;
  readonly message?: string;
}

function sendHttp1(call: Call, options: RequestOptions = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    request({
      host: "127.0.0.1",
      port: service.port,
      path: call.path ?? "/get_face_vec",
      method: call.path ? "GET" : "POST",
      headers: headersOf(call),
      agent: false,
      ...tlsOptions(call.pair),
      ...options,
    })
      .on("response", (response) => {
        text(response).then((body) => resolve({ ...JSON.parse(body), status: response.statusCode }), reject);
      })
      .on("error", reject)
      .end();
  });
}

async function sendHttp2(call: Call): Promise<Answer> {
  const session = connect(`https://127.0.0.1:${service.port}`, tlsOptions(call.pair));
  try {
    return await sendInSession(session, call);
  } finally {
    session.close();
  }
}

async function sendInSession(session: ClientHttp2Session, call: Call): Promise<Answer> {
  const stream = session.request({
    ":path": call.path ?? "/get_face_vec",
    ":method": call.path ? "GET" : "POST",
    ...headersOf(call),
  });
  stream.end();
  const [headers] = (await once(stream, "response")) as [Record<string, number>];
  return { ...JSON.parse(await text(stream)), status: headers[":status"] };
}

/** Calls with grpc-js and returns the envelope code, or `ok`. */
function sendGrpc(call: Call): Promise<Answer> {
  const { pair } = call;
  const channel = credentials.createSsl(
    Buffer.from(server.cert),
    pair ? Buffer.from(pair.key) : null,
    pair ? Buffer.from(pair.cert) : null,
  );
  const client = new Client(`127.0.0.1:${service.port}`, channel, {
    "grpc.ssl_target_name_override": "localhost",
  });
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(headersOf(call))) metadata.set(name, value);
  const identity = (bytes: Buffer) => bytes;
  return new Promise((resolve) => {
    client.makeUnaryRequest(
      call.path ?? "/face.v1.FaceService/GetFaceVec",
      identity,
      identity,
      Buffer.alloc(0),
      metadata,
      (error: ServiceError | null) => {
        client.close();
        const details = Buffer.from(error?.metadata.get("grpc-status-details-bin")[0] ?? "").toString(
          "latin1",
        );
        resolve({ status: error?.code ?? 0, code: /code\W{2}(\d{4})/.exec(details)?.[1] ?? "ok" });
      },
    );
  });
}

const CASES: readonly [string, () => Call, string][] = [
  ["a certificate of a user", () => ({ pair: clients.anna }), "2001"],
  ["a certificate and a key of the same user", () => ({ pair: clients.anna, key: "anna-key" }), "2001"],
  ["a key and no certificate", () => ({ key: USER }), "2001"],
  ["a key and a certificate of nobody", () => ({ pair: clients.nobody, key: USER }), "2001"],
  ["a key and an untrusted certificate", () => ({ pair: clients.untrusted, key: USER }), "2001"],
  ["neither", () => ({}), "4001"],
  ["a certificate and a key of different users", () => ({ pair: clients.anna, key: "bela-key" }), "4002"],
  ["a certificate and an unknown key", () => ({ pair: clients.anna, key: "unknown-key" }), "4002"],
  ["a certificate of nobody", () => ({ pair: clients.nobody }), "4002"],
  ["an expired certificate", () => ({ pair: clients.expired }), "4002"],
  ["a certificate of another authority", () => ({ pair: clients.untrusted }), "4002"],
  ["a certificate that is for servers only", () => ({ pair: clients.serverOnly }), "4002"],
  ["a certificate with two common names", () => ({ pair: clients.twoNames }), "4002"],
];

describe.each([
  ["HTTP/1.1", sendHttp1],
  ["HTTP/2", sendHttp2],
  ["grpc-js", sendGrpc],
])("over %s", (_, send) => {
  test.each(CASES)("with %s", async (_case, createCall, code) => {
    expect(await send(createCall())).toMatchObject({ code });
  });
});

describe("probes need no certificate and accept any", () => {
  test("over HTTP/1.1, HTTP/2 and gRPC", async () => {
    for (const pair of [undefined, clients.anna, clients.untrusted]) {
      for (const path of ["/healthz", "/readyz"])
        for (const send of [sendHttp1, sendHttp2])
          expect(await send({ path, pair })).toMatchObject({ status: 200 });
      expect(await sendGrpc({ path: "/grpc.health.v1.Health/Check", pair })).toMatchObject({ status: 0 });
    }
  });
});

test("the rejection tells an untrusted certificate from one of nobody", async () => {
  expect((await sendHttp1({ pair: clients.untrusted })).message).toBe(
    "The client certificate is not trusted or has no common name.",
  );
  expect((await sendHttp1({ pair: clients.nobody })).message).toBe(
    "The client certificate belongs to no user.",
  );
});

test("every request of a connection is checked by itself", async () => {
  const session = connect(`https://127.0.0.1:${service.port}`, tlsOptions(clients.anna));
  const codes = [];
  for (const key of [undefined, "bela-key", "anna-key"])
    codes.push((await sendInSession(session, { key })).code);
  session.close();
  expect(codes).toEqual(["2001", "4002", "2001"]);
});

describe("a resumed session", () => {
  /** Sends a request and returns the session ticket that the server sends with it. */
  async function sendAndKeepSession(pair: Pair | undefined, session?: Buffer) {
    const socket: TLSSocket = connectTls({
      host: "127.0.0.1",
      port: service.port,
      ALPNProtocols: ["http/1.1"],
      session,
      ...tlsOptions(pair),
    });
    let isReused: boolean | undefined;
    socket.on("secureConnect", () => (isReused = socket.isSessionReused()));
    const tickets: Buffer[] = [];
    socket.on("session", (ticket: Buffer) => tickets.push(ticket));
    socket.write("POST /get_face_vec HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 0\r\n");
    socket.write(`X-Forwarded-For: 198.51.100.${++calls % 200}\r\n\r\n`);
    const body = await text(socket);
    return {
      isReused,
      code: /"code":"(\d{4})"/.exec(body)?.[1],
      ticket: tickets.at(-1)!,
    };
  }

  test("keeps the certificate of its first handshake", async () => {
    const { ticket } = await sendAndKeepSession(clients.anna);
    expect(await sendAndKeepSession(undefined, ticket)).toMatchObject({ isReused: true, code: "2001" });
  });

  test("without a certificate has none", async () => {
    const { ticket } = await sendAndKeepSession(undefined);
    expect(await sendAndKeepSession(undefined, ticket)).toMatchObject({ isReused: true, code: "4001" });
  });

  test("ends with the authority that is no longer trusted", async () => {
    const { ticket } = await sendAndKeepSession(clients.anna);
    writeFileSync(files.VISAGE_TLS_CLIENT_CA, otherAuthority.cert);
    await service.reload();
    expect(await sendAndKeepSession(clients.anna, ticket)).toMatchObject({ isReused: false, code: "4002" });
    expect(await sendHttp2({ pair: clients.untrusted })).toMatchObject({ code: "2001" });
    // Several authorities, while one replaces the other.
    writeFileSync(files.VISAGE_TLS_CLIENT_CA, `${otherAuthority.cert}\n${authority.cert}`);
    await service.reload();
    for (const pair of [clients.anna, clients.untrusted])
      expect(await sendHttp2({ pair })).toMatchObject({ code: "2001" });
  });
});

describe("an unusable file of authorities", () => {
  const DEFECTS: readonly [string, () => void][] = [
    ["missing", () => rmSync(files.VISAGE_TLS_CLIENT_CA)],
    ["empty", () => writeFileSync(files.VISAGE_TLS_CLIENT_CA, "")],
    ["cut off", () => writeFileSync(files.VISAGE_TLS_CLIENT_CA, authority.cert.slice(0, 400))],
    ["damaged", () => writeFileSync(files.VISAGE_TLS_CLIENT_CA, authority.cert.replace(/[A-Z]{3}/g, "AAA"))],
    ["a key", () => writeFileSync(files.VISAGE_TLS_CLIENT_CA, authority.key)],
  ];

  test.each(DEFECTS)("fails the start and does not replace the current one: %s", async (_, damage) => {
    writeFileSync(files.VISAGE_TLS_CLIENT_CA, authority.cert);
    await service.reload();
    damage();
    await expect(startTestService(files)).rejects.toThrow("VISAGE_TLS_CLIENT_CA cannot be used: ");
    await service.reload();
    expect(await sendHttp1({ pair: clients.anna })).toMatchObject({ code: "2001" });
    expect(await sendHttp1({ pair: clients.untrusted })).toMatchObject({ code: "4002" });
  });
});
