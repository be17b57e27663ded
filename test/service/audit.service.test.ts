import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fingerprintOf, hashKey } from "../../src/accounts/key.ts";
import { AUDIT_FIELDS } from "../../src/audit/audit-line.ts";
import { MAX_ENROLMENT_BATCH } from "../../src/galleries/gallery-store.ts";
import type { RunningService } from "../../src/main.ts";
import { AUDITING } from "../../src/service/audit-requests.ts";
import { readAudit } from "../support/audit.ts";
import { createGalleryClient, errorOf, MODEL, type TestPerson, testPeople } from "../support/galleries.ts";
import { ADMIN_KEY, startTestService, USER } from "../support/service.ts";

const ADDRESS = "203.0.113.9";
const TRACE_ID = "0af7651916cd43dd8448eb211c80319c";

const folder = mkdtempSync(join(tmpdir(), "visage-audit-"));
const path = join(folder, "audit.jsonl");
let service: RunningService;
/** The fingerprint of the trial user. */
let fingerprint: string;
/** The keys of users that were created, which must not be in the trail. */
const keys: string[] = [];

beforeAll(async () => {
  service = await startTestService({
    VISAGE_AUDIT: path,
    VISAGE_ADMIN_KEY: ADMIN_KEY,
    VISAGE_TRUSTED_PROXIES: "127.0.0.1",
    VISAGE_LOG_LEVEL: "off",
  });
  fingerprint = (await call("GET", "account")).body.fingerprint;
});
afterAll(async () => {
  await service.close();
  rmSync(folder, { recursive: true });
});

let requests = 0;

/** Calls the service as the trial user, or as the operator below `admin/`. Returns the response and the audit lines. */
async function call(
  verb: string,
  to: string,
  body?: unknown,
  key = to.startsWith("admin/") ? ADMIN_KEY : USER,
) {
  const id = `request-${++requests}`;
  const response = await fetch(`http://127.0.0.1:${service.port}/v1/${to}`, {
    method: verb,
    headers: {
      authorization: `Bearer ${key}`,
      "x-request-id": id,
      "x-forwarded-for": ADDRESS,
      traceparent: `00-${TRACE_ID}-b7ad6b7169203331-01`,
    },
    ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    body: text.startsWith("{") && !text.includes("\n") ? JSON.parse(text) : text,
    lines: readAudit(path, id),
  };
}

const [ann, bob] = testPeople(2, 1) as [TestPerson, TestPerson];
const embeddingOf = ({ values }: { readonly values: number[] }) => ({ values, model: MODEL });
const enrol = { source: { embedding: embeddingOf(ann) }, displayName: "Ann Smith" };
const importLine = (personId: string) => JSON.stringify({ personId, embedding: embeddingOf(bob) });

/** The messages of an import. */
async function* facesFor(galleryId: string, count = 1) {
  for (const { values, ...ids } of testPeople(count, 2))
    yield { galleryId, ...ids, embedding: embeddingOf({ values }) };
}

type Work = () => ReturnType<typeof call>;
/** An operation and its audit lines. The cases are called in order. */
type Case = readonly [operation: string, work: Work, lines: readonly object[]];

/** An operation that succeeds. `common` is in both lines, `end` in the last one only. */
function change(operation: string, work: Work, common: object, end: object = {}): Case {
  const start = { ...common, phase: "start" };
  return [operation, work, [start, { ...common, phase: "end", outcome: "ok", ...end }]];
}

/** An operation that fails after its first line, or before. */
function failure(operation: string, work: Work, common: object, outcome: string, isEarly = false): Case {
  const end = { ...common, phase: "end", outcome };
  return [operation, work, isEarly ? [end] : [{ ...common, phase: "start" }, end]];
}

const FINGERPRINT = expect.stringMatching(/^[0-9a-f]{10}$/);
const ANN = "admin/users/Ann%20Smith";
const IN_G = { gallery: "g" };
const TO_ANN = { target_user: FINGERPRINT };
const P1 = { people: ["p1"], people_count: 1 };
const LARGE = { plan: "large" };
const probe = { source: enrol.source };

/** Calls an operation that creates a key, and keeps the key. */
const creating =
  (...[verb, to, body, key]: Parameters<typeof call>): Work =>
  async () => {
    const created = await call(verb, to, body, key ?? (to.startsWith("account") ? keys.at(-1) : undefined));
    keys.push(created.body.key);
    return created;
  };
const deleteKey = (ofKey: number) => () =>
  call("DELETE", `account/keys/${fingerprintOf(hashKey(keys[ofKey]!))}`, undefined, keys.at(-1));

const CASES: readonly Case[] = [
  change("CreateGallery", () => call("POST", "galleries", { galleryId: "g", displayName: "Staff" }), IN_G, {
    model: MODEL,
  }),
  failure("CreateGallery", () => call("POST", "galleries", { galleryId: "g" }), IN_G, "GALLERY_EXISTS"),
  failure("CreateGallery", () => call("POST", "galleries", { galleryId: "A b" }), {}, "BAD_REQUEST", true),
  change("UpdateGallery", () => call("PATCH", "galleries/g", { displayName: "People" }), IN_G),
  change(
    "EnrolFace",
    () => call("POST", "galleries/g/people/p1/faces", { ...enrol, faceId: "f1" }),
    { ...IN_G, ...P1, face: "f1", model: MODEL },
    { faces: 1 },
  ),
  failure(
    "EnrolFace",
    () => call("POST", "galleries/none/people/p1/faces", enrol),
    { gallery: "none", ...P1 },
    "GALLERY_NOT_FOUND",
    true,
  ),
  change(
    "ImportFaces",
    () => call("POST", "galleries/g:import", `${importLine("p2")}\n${importLine("p3")}\n`),
    {
      ...IN_G,
      model: MODEL,
      faces: 2,
    },
  ),
  change("ImportFaces", () => call("POST", "galleries/g:import", "\n"), { faces: 0 }),
  [
    "IdentifyFaces",
    () => call("POST", "galleries/g:identify", probe),
    [{ ...IN_G, ...P1, faces: 1, model: MODEL, phase: "end", outcome: "ok" }],
  ],
  failure(
    "IdentifyFaces",
    () => call("POST", "galleries/none:identify", probe),
    { gallery: "none" },
    "GALLERY_NOT_FOUND",
    true,
  ),
  change("ExportGallery", () => call("GET", "galleries/g:export"), { ...IN_G, model: MODEL }, { faces: 3 }),
  change(
    "ExportPerson",
    () => call("GET", "galleries/-/people/p1:export"),
    { gallery: "-", ...P1 },
    { faces: 1 },
  ),
  change("UpdatePerson", () => call("PATCH", "galleries/g/people/p1", { displayName: "Ann Jones" }), {
    ...IN_G,
    ...P1,
  }),
  change(
    "DeleteFace",
    () => call("DELETE", "galleries/g/people/p1/faces/f1"),
    { ...IN_G, ...P1, face: "f1" },
    { faces: 1 },
  ),
  change(
    "DeletePerson",
    () => call("DELETE", "galleries/g/people/p2"),
    { ...IN_G, people: ["p2"] },
    { faces: 1 },
  ),
  failure("DeletePerson", () => call("DELETE", "galleries/g/people/p2"), IN_G, "PERSON_NOT_FOUND"),
  change("CreateGallery", () => call("POST", "galleries", { galleryId: "next" }), { gallery: "next" }),
  change(
    "ReplaceGallery",
    () => call("POST", "galleries/g:replace", { successorId: "next" }),
    { ...IN_G, successor: "next" },
    { faces: 1 },
  ),
  change("DeleteGallery", () => call("DELETE", "galleries/g"), IN_G, { faces: 0 }),
  change(
    "CreateUser",
    creating("POST", "admin/users", { name: "Ann Smith", plan: "pro", certificateSubject: "ann.example" }),
    {},
    { ...TO_ANN, plan: "pro" },
  ),
  failure("CreateUser", () => call("POST", "admin/users", { name: "Ann Smith" }), {}, "USER_EXISTS"),
  change("UpdateUser", () => call("PATCH", ANN, { plan: "basic" }), TO_ANN, { plan: "basic" }),
  change("CreateUserKey", creating("POST", `${ANN}/keys`, {}), TO_ANN, { target_key: FINGERPRINT }),
  change("DeleteUserKey", () => call("DELETE", `${ANN}/keys/${fingerprintOf(hashKey(keys[0]!))}`), {
    ...TO_ANN,
    target_key: FINGERPRINT,
  }),
  change("CreateKey", creating("POST", "account/keys", {}), TO_ANN, {
    target_key: FINGERPRINT,
  }),
  failure("DeleteKey", () => deleteKey(2)(), TO_ANN, "KEY_IN_USE", true),
  change("DeleteKey", () => deleteKey(1)(), { ...TO_ANN, target_key: FINGERPRINT }),
  change("DeleteUser", () => call("DELETE", ANN), TO_ANN),
  change("CreatePlan", () => call("POST", "admin/plans", { name: "large" }), LARGE),
  change("UpdatePlan", () => call("PATCH", "admin/plans/large", { limits: { maxGalleries: 9 } }), LARGE),
  change("DeletePlan", () => call("DELETE", "admin/plans/large"), LARGE),
  failure("DeletePlan", () => call("DELETE", "admin/plans/large"), {}, "PLAN_NOT_FOUND"),
];

describe("the audit trail", () => {
  test.each(CASES)("%s (%#) leaves its lines before it is answered", async (operation, work, lines) => {
    const isAdmin = /User|Plan/.test(operation);
    const caller = isAdmin ? { user: "admin" } : { user: FINGERPRINT, key: FINGERPRINT };
    const always = { event: "audit", operation, ...caller, address: ADDRESS, trace_id: TRACE_ID };
    const found = (await work()).lines;
    expect(found).toMatchObject(lines.map((line) => ({ ...always, ...line })));
    const known = Object.keys(AUDIT_FIELDS);
    for (const line of found) expect(known).toEqual(expect.arrayContaining(Object.keys(line)));
    if (operation === "EnrolFace")
      expect(found[0]).toMatchObject({ user: fingerprint, key: fingerprintOf(hashKey(USER)) });
  });

  test("has a case for every audited operation, and every field", () => {
    const audited = Object.values(AUDITING).flatMap((methods) =>
      Object.entries(methods).flatMap(([name, auditing]) => (auditing === "none" ? [] : name.toLowerCase())),
    );
    const tested = new Set(CASES.map(([operation]) => operation.toLowerCase()));
    expect([...tested].toSorted()).toEqual(audited.toSorted());
    const fields = new Set(readAudit(path).flatMap(Object.keys));
    expect([...fields].toSorted()).toEqual(Object.keys(AUDIT_FIELDS).toSorted());
  });

  test("has no key, no name and no embedding", () => {
    const text = readFileSync(path, "utf8");
    expect(keys).toHaveLength(3);
    const numbers = ann.values.slice(0, 4).map((number) => String(Math.abs(number)).slice(0, 6));
    for (const secret of [USER, ADMIN_KEY, ...keys, "Ann", "Staff", "People", "ann.example", ...numbers])
      expect(text, secret).not.toContain(secret);
  });

  test("has the gallery of what a key may not do, unless it is no id", async () => {
    const { key } = (await call("POST", "account/keys", { scopes: ["account"] })).body;
    const denied = { gallery: "next", phase: "end", outcome: "SCOPE_MISSING" };
    for (const [verb, to, body] of [
      ["POST", "galleries", { galleryId: "next" }],
      ["POST", "galleries/next:identify", probe],
      ["POST", "galleries/next/people/p1/faces", enrol],
      ["DELETE", "galleries/next"],
      ["GET", "galleries/next:export"],
      ["GET", "galleries/next/people/p1:export"],
      ["POST", "galleries/next:import", `${importLine("p1")}\n`],
    ] as const)
      expect((await call(verb, to, body, key)).lines, to).toMatchObject([denied]);
    for (const [verb, to, body] of [
      ["DELETE", "galleries/Ann%20Smith"],
      ["GET", "galleries/Ann%20Smith:export"],
      ["POST", "galleries/next:import", "Ann"],
    ] as const) {
      const [line, ...others] = (await call(verb, to, body, key)).lines;
      expect([line!.outcome, others]).toEqual(["SCOPE_MISSING", []]);
      expect(line).not.toHaveProperty("gallery");
    }
    expect(await errorOf(createGalleryClient(service, key).importFaces(facesFor("next")))).toEqual([
      "PermissionDenied",
      "SCOPE_MISSING",
    ]);
    expect(readAudit(path).at(-1)).toMatchObject({ operation: "ImportFaces", ...denied });
  });

  test("begins with the trial user, which the start creates once", () => {
    const created = { operation: "CreateUser", source: "service start", user: "admin" };
    const user = { target_user: fingerprint, plan: "unlimited" };
    const lines = readAudit(path).filter(({ source }) => source === "service start");
    expect(lines).toEqual(readAudit(path).slice(0, 2));
    expect(lines).toMatchObject([
      { ...created, ...user, phase: "start" },
      { ...created, ...user, phase: "end", outcome: "ok" },
    ]);
  });

  test("reading leaves no lines", async () => {
    for (const to of [
      "galleries",
      "galleries/next",
      "galleries/next/people",
      "account",
      "admin/users",
      "admin/plans",
    ])
      expect((await call("GET", to)).lines, to).toEqual([]);
  });

  test("an import has a line before each batch, and one with what is stored", async () => {
    await call("POST", "galleries", { galleryId: "large" });
    const people = Array.from({ length: MAX_ENROLMENT_BATCH + 20 }, (_, i) => importLine(`p${i}`));
    const { lines } = await call("POST", "galleries/large:import", [...people, importLine("a b")].join("\n"));
    expect(lines).toMatchObject([
      { phase: "start", people_count: MAX_ENROLMENT_BATCH, faces: MAX_ENROLMENT_BATCH },
      { phase: "end", outcome: "BAD_REQUEST", faces: MAX_ENROLMENT_BATCH },
    ]);
    expect(lines[1]).not.toHaveProperty("people");
  });

  test("an export that the client leaves ends with what was read", async () => {
    await call("POST", "galleries", { galleryId: "exported" });
    const client = createGalleryClient(service, USER);
    await client.importFaces(facesFor("exported", 3_000));
    const leaving = new AbortController();
    const read = async () => {
      for await (const _ of client.exportGallery({ galleryId: "exported" }, leaving)) leaving.abort();
    };
    await expect(read()).rejects.toThrow("aborted");
    const ends = () =>
      readAudit(path).filter(
        ({ operation, gallery, phase }) =>
          operation === "ExportGallery" && gallery === "exported" && phase === "end",
      );
    await expect.poll(ends).toMatchObject([{ outcome: "CANCELED", faces: expect.any(Number) }]);
  });
});
