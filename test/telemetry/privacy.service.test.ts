import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import sharp from "sharp";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  CompareFacesRequestSchema,
  GetFaceVecRequestSchema,
  GetImageAttrRequestSchema,
  MatchFacesRequestSchema,
} from "../../gen/ts/face/v1/face_pb.ts";
import { MAX_LIVE_KEYS } from "../../src/accounts/account-store.ts";
import { openAccountStore } from "../../src/accounts/open-account-store.ts";
import type { RunningService } from "../../src/main.ts";
import { ERROR_KINDS, type ErrorKind, reasonFromKind } from "../../src/service/error-table.ts";
import { createLog } from "../../src/telemetry/log.ts";
import { addTestUser } from "../support/accounts.ts";
import { cropPhotograph, FACES, growBox } from "../support/faces.ts";
import { createPng, photograph } from "../support/images.ts";
import { type Collector, startCollector } from "../support/otlp.ts";
import { createProtocolClients } from "../support/protocol-clients.ts";
import { startTestService, USER } from "../support/service.ts";

const ADMIN_KEY = "admin-key-that-is-never-logged-0123456789";
const UNKNOWN_USER = "an-id-without-a-user";
const OTHER_USERS = ["id-without-subscription", "id-without-quota", "id-above-its-rate"] as const;
const SECRETS = {
  query: "sesame-in-the-query",
  path: "sesame-in-the-path",
  header: "sesame-in-a-header",
  host: "sesame-in-the-host",
};
/** Two occur before there is a request to log; some need a database or audit trail that cannot be reached. */
const UNTESTED_KINDS: readonly ErrorKind[] = [
  "headersTooLarge",
  "requestTooSlow",
  "accountsUnavailable",
  "galleriesUnavailable",
  "auditUnavailable",
  "tooManyGalleries",
  "tooManyFaces",
  "tooManyFacesOfPerson",
  "galleryTooLarge",
  "galleryLoading",
];
const MAX_REQUEST_BYTES = 8 * 1024 * 1024;

let collector: Collector;
let service: RunningService;
const lines: string[] = [];
const createdKeys: string[] = [];
const dataDir = mkdtempSync(join(tmpdir(), "visage-privacy-"));
const audit = join(dataDir, "audit.jsonl");
/** Responds with a photograph and the status in the path, or never. */
const images = createServer(({ url = "" }, response) => {
  const status = Number(/status-(\d+)/.exec(url)?.[1] ?? 200);
  if (url.includes("/redirect")) response.setHeader("location", `http://${SECRETS.host}:1/`);
  if (!url.includes("/never")) response.writeHead(status).end(photograph(3));
});
beforeAll(async () => {
  collector = await startCollector();
  images.listen(0, "127.0.0.1");
  await once(images, "listening");
  const log = createLog("debug", {
    write: (line) => void lines.push(line),
    dropped: 0,
    flush: async () => {},
  });
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
    VISAGE_ADMIN_KEY: ADMIN_KEY,
    VISAGE_AUDIT: audit,
    VISAGE_DATA_DIR: dataDir,
    VISAGE_FETCH_ALLOW: "127.0.0.1",
    VISAGE_FETCH_TIMEOUT_MS: "1000",
    VISAGE_MAX_REQUEST_BYTES: String(MAX_REQUEST_BYTES),
    VISAGE_MAX_QUEUE_WAIT_MS: "1",
    VISAGE_TRUSTED_PROXIES: "127.0.0.1",
  };
  service = await startTestService(env, log);
});
afterAll(() => {
  collector.close();
  images.close();
  images.closeAllConnections();
  rmSync(dataDir, { recursive: true });
});

/** Another address for each request: only the first failures of an address are logged. */
let requests = 0;
const forwardedFor = () => ({ "x-forwarded-for": `198.51.100.${++requests % 250}` });

/** Sends requests that cause every kind of error of accounts. Names, certificate subjects and keys are secret. */
async function causeAccountErrors(): Promise<void> {
  const call = async (verb: string, path: string, body?: object, headers = {}) => {
    const response = await fetch(`http://127.0.0.1:${service.port}/v1/${path}`, {
      method: verb,
      headers: {
        authorization: `Bearer ${ADMIN_KEY}`,
        "content-type": "application/json",
        ...forwardedFor(),
        ...headers,
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    return (await response.json()) as { key: string; keys: { fingerprint: string }[]; code?: number };
  };
  const user = { name: SECRETS.query, certificateSubject: SECRETS.path };
  const path = `admin/users/${SECRETS.query}`;
  const { key } = await call("POST", "admin/users", user);
  await call("POST", "admin/users", { ...user, certificateSubject: SECRETS.header });
  await call("POST", "admin/users", { ...user, name: SECRETS.header });
  await call("POST", "admin/plans", { name: "trial" });
  await call("DELETE", "admin/plans/trial");
  await call("DELETE", `admin/plans/${SECRETS.path}`);
  await call("DELETE", `admin/users/${SECRETS.path}`);
  await call("DELETE", `${path}/keys/${SECRETS.path}`);
  await call("GET", "admin/users", undefined, { authorization: `Bearer ${SECRETS.header}` });
  await call("GET", "admin/users", undefined, { origin: `http://${SECRETS.header}` });
  const asUser = { authorization: `Bearer ${key}` };
  const [{ fingerprint } = { fingerprint: "" }] = (await call("GET", "account", undefined, asUser)).keys;
  await call("DELETE", `account/keys/${fingerprint}`, undefined, asUser);
  const created = await call("POST", "account/keys", { scopes: ["account"] }, asUser);
  const asLimited = { authorization: `Bearer ${created.key}` };
  await call("POST", "account/keys", { scopes: ["export"] }, asLimited);
  await call("GET", "galleries", undefined, asLimited);
  for (let i = 0; i < MAX_LIVE_KEYS; i++) await call("POST", `${path}/keys`, {});
  await call("POST", "admin/plans", { name: "closed", off: ["galleries"] });
  await call("PATCH", path, { plan: "closed" });
  await expect.poll(async () => (await call("GET", "galleries", undefined, asUser)).code).toBe(7);
  createdKeys.push(key, created.key);
}

/** Sends requests that cause every kind of error except UNTESTED_KINDS. */
async function causeErrors(): Promise<void> {
  const post = async (
    fields: object,
    { path = "/get_face_vec", ...headers }: Record<string, string> = {},
  ) => {
    const response = await fetch(`http://127.0.0.1:${service.port}${path}`, {
      method: "POST",
      headers: {
        user_id: USER,
        "content-type": "application/json",
        "x-secret": SECRETS.header,
        ...forwardedFor(),
        ...headers,
      },
      body: JSON.stringify(fields),
    });
    await response.arrayBuffer();
  };
  const textOf = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64");
  const url = `http://127.0.0.1:${(images.address() as AddressInfo).port}`;
  const photo = textOf(photograph(3));

  await post({ img: photo, bboxes: "9,9,1,1" });
  await post({ img: photo, bboxes: "0,0,40,40" });
  await post({ img: textOf(createPng(30_000, 30_000, 8, 2)) });
  await post({ img: "A".repeat(MAX_REQUEST_BYTES) });
  await post({ img: `http://${SECRETS.host}.localhost:1/` });
  for (const path of ["redirect/status-302", "status-404", "status-500", "never"])
    await post({ img: `${url}/${path}/${SECRETS.path}?key=${SECRETS.query}` });
  await Promise.all(Array.from({ length: 9 }, () => post({ img: `${url}/never/${SECRETS.path}` })));
  await post(
    { img: { content: photo } },
    { path: "/face.v1.FaceService/GetFaceVec", "content-encoding": "zstd" },
  );
  const stored = { embedding: { values: Array(128).fill(0.04), model: SECRETS.query } };
  await post({ source: stored, target: photo }, { path: "/v1/faces:compare" });
  const gallery = { gallery_id: "staff", display_name: SECRETS.query };
  for (let i = 0; i < 2; i++) await post(gallery, { path: "/v1/galleries" });
  await post({ ...gallery, gallery_id: "next" }, { path: "/v1/galleries" });
  await post({ successor_id: "next", revision: 9 }, { path: "/v1/galleries/staff:replace" });
  const enrol = { source: photo, display_name: SECRETS.query, skip_quality_check: true };
  await post(enrol, { path: "/v1/galleries/staff/people/one/faces" });
  const checked = { ...enrol, check_person: true };
  const stranger = textOf(await cropPhotograph(3, growBox(FACES[3][2]!, 2)).jpeg().toBuffer());
  await post({ ...checked, source: stranger }, { path: "/v1/galleries/staff/people/one/faces" });
  await post(checked, { path: "/v1/galleries/staff/people/two/faces" });
  await post({ source: photo }, { path: "/v1/galleries/staff:identify" });
  await post({ source: photo }, { path: "/v1/galleries/none:identify" });
  for (const path of ["people/two", "people/one/faces/two"])
    await fetch(`http://127.0.0.1:${service.port}/v1/galleries/staff/${path}`, {
      method: "DELETE",
      headers: { user_id: USER },
    });
  await causeAccountErrors();
  const blank = sharp({ create: { width: 300, height: 300, channels: 3, background: "grey" } });
  await post({ img: textOf(await blank.png().toBuffer()) });

  const face = cropPhotograph(3, growBox(FACES[3][0]!, 2));
  await post({ img: textOf(await face.clone().resize(100).jpeg().toBuffer()), quality: true });
  await post({ img: textOf(await face.clone().linear(0.1).jpeg().toBuffer()), quality: true });
  const blurred = textOf(await face.clone().blur(20).jpeg().toBuffer());
  await post({ source: blurred }, { path: "/v1/galleries/staff/people/one/faces" });
  const profile = cropPhotograph(2, growBox(FACES[2][0]!, 2.6));
  await post({ img: textOf(await profile.jpeg().toBuffer()), quality: true });

  const store = await openAccountStore({ databaseUrl: undefined, dataDir });
  const [expired, overQuota, overRate] = OTHER_USERS;
  await addTestUser(store, expired, {}, { endsAt: new Date("2021-01-01T00:00:00Z") });
  await addTestUser(store, overQuota, { requestsPerMonth: 0 });
  await addTestUser(store, overRate, { requestsPerSecond: 0.001 });
  await store.close();
  for (const user of ["", ...OTHER_USERS, overRate]) await post({ img: photo }, { user_id: user });

  await post({ img: photo }, { path: `/${SECRETS.path}` });
  await fetch(`http://127.0.0.1:${service.port}/get_face_vec?key=${SECRETS.query}`, {
    headers: { user_id: USER },
  });
  await post(
    { img: { content: photo } },
    { path: "/face.v1.FaceService/GetFaceVec", "connect-timeout-ms": "5" },
  );
  await Promise.all(Array.from({ length: 4 }, () => post({ img: photo })));
  await expect.poll(() => service.pool.busy).toBe(0);
  // Stopped, so that the job cannot end before the worker does.
  const [worker] = service.pool.pids;
  process.kill(worker!, "SIGSTOP");
  const lost = post({ img: photo });
  await expect.poll(() => service.pool.busy).toBe(1);
  process.kill(worker!, "SIGKILL");
  await lost;
  await service.drain(0);
  await post({ img: photo });
}

test("log, audit trail, metrics and traces contain no request or response data", async () => {
  const port = (images.address() as AddressInfo).port;
  const content = (bytes: Uint8Array) => ({ source: { case: "content", value: bytes } as const });
  const url = (text: string) => ({ source: { case: "url", value: text } as const });
  const photo = content(photograph(3));
  const remote = url(`http://127.0.0.1:${port}/${SECRETS.path}?key=${SECRETS.query}`);
  const unreachable = url(`http://127.0.0.1:1/${SECRETS.path}?key=${SECRETS.query}`);
  const inside = url(`http://[::1]/${SECRETS.path}?key=${SECRETS.query}`);
  const broken = content(photograph(3).subarray(0, 5000));
  const answers: string[] = [];
  for (const client of createProtocolClients(service.port, USER)) {
    for (const img of [photo, remote, unreachable, inside, broken, content(Buffer.from("no image"))]) {
      const outcome = await client.call(
        "getFaceVec",
        create(GetFaceVecRequestSchema, { img, quality: true }),
      );
      answers.push(
        JSON.stringify(outcome, (_, value) => (typeof value === "bigint" ? String(value) : value)),
      );
    }
  }
  const [client] = createProtocolClients(service.port, USER);
  await client!.call("getImageAttr", create(GetImageAttrRequestSchema, { imageAttr: photo }));
  await client!.call("matchFaces", create(MatchFacesRequestSchema, { img1: photo, img2: remote }));
  await client!.call("compareFaces", create(CompareFacesRequestSchema, { img1: photo, img2: broken }));
  for (const unauthenticated of createProtocolClients(service.port, UNKNOWN_USER))
    await unauthenticated.call("getFaceVec", create(GetFaceVecRequestSchema, { img: photo }));
  for (const header of [{ "x-api-key": UNKNOWN_USER }, { authorization: `Bearer ${UNKNOWN_USER}` }])
    await fetch(`http://127.0.0.1:${service.port}/get_face_vec`, { method: "POST", headers: header });
  await fetch(`http://127.0.0.1:${service.port}/get_face_vec?bboxes=${SECRETS.query}`, {
    method: "POST",
    headers: { user_id: USER, "x-secret": SECRETS.header },
    body: `{"img":"${photograph(3).toString("base64").slice(0, 500)}`,
  });

  await causeErrors();

  const metrics = await (await fetch(`http://127.0.0.1:${service.metricsPort}/metrics`)).text();
  await service.close();
  const audited = readFileSync(audit, "utf8");
  expect(audited.split("\n").length).toBeGreaterThan(20);
  const seen = `${lines.join("")}${audited}${metrics}${JSON.stringify(collector.spans)}`;
  const outcomes = new Set(lines.map((line) => (JSON.parse(line) as { outcome?: string }).outcome));
  const kinds = ERROR_KINDS.filter((kind) => !outcomes.has(reasonFromKind(kind)));
  expect(kinds).toEqual(UNTESTED_KINDS);
  expect(createdKeys).toEqual([expect.stringMatching(/^vsg_/), expect.stringMatching(/^vsg_/)]);
  expect(collector.spans.length).toBeGreaterThan(50);

  const vector = JSON.parse(answers[0]!).response.data.vector as number[];
  expect(vector).toHaveLength(128);
  const base64 = photograph(3).toString("base64");
  for (const secret of [
    USER,
    UNKNOWN_USER,
    ADMIN_KEY,
    ...createdKeys,
    ...OTHER_USERS,
    ...Object.values(SECRETS),
    ...vector.slice(0, 8).map((number) => String(Math.abs(number)).slice(0, 12)),
    base64.slice(0, 24),
    base64.slice(3000, 3024),
    photograph(3).subarray(1000, 1012).toString("hex"),
    "face_land_mark",
    "x1",
  ])
    expect(seen, secret).not.toContain(secret);
});
