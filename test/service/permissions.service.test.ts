import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type DescMethod,
  type DescMethodStreaming,
  type DescMethodUnary,
  type JsonObject,
  type Message,
  toJson,
} from "@bufbuild/protobuf";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createAsyncIterable } from "@connectrpc/connect/protocol";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { ErrorInfoSchema } from "../../gen/ts/google/rpc/error_details_pb.ts";
import { ServerReflection } from "../../gen/ts/grpc/reflection/v1/reflection_pb.ts";
import {
  type AnalyzeImagesResponse,
  FaceAnalysisService,
  Population,
} from "../../gen/ts/visage/v1/face_analysis_pb.ts";
import { GalleryService } from "../../gen/ts/visage/v1/gallery_pb.ts";
import type { AccountStore, NewKey, Plan } from "../../src/accounts/account-store.ts";
import { hashKey } from "../../src/accounts/key.ts";
import { openAccountStore } from "../../src/accounts/open-account-store.ts";
import type { RunningService } from "../../src/main.ts";
import { PACKAGE_ROOT } from "../../src/package-root.ts";
import { GALLERIES, PERMISSION_NAMES, type Permission } from "../../src/permissions.ts";
import { addTestUser, newKey } from "../support/accounts.ts";
import { createGalleryClient, embeddingSource, enrol, testPeople } from "../support/galleries.ts";
import { photograph } from "../support/images.ts";
import { GALLERY, PERMISSION_CASES } from "../support/permission-cases.ts";
import { startTestService, USER } from "../support/service.ts";
import { reasonOf } from "../support/typed-clients.ts";
import { createUnaryClients } from "../support/unary-clients.ts";

const REFUSALS = ["PURPOSE_DISABLED", "SCOPE_MISSING"];
const [PERSON, OTHER] = testPeople(2, 3) as [
  ReturnType<typeof testPeople>[0],
  ReturnType<typeof testPeople>[0],
];

let service: RunningService;
let store: AccountStore;
const dataDir = mkdtempSync(join(tmpdir(), "visage-permissions-"));
beforeAll(async () => {
  service = await startTestService({ VISAGE_DATA_DIR: dataDir });
  store = await openAccountStore({ databaseUrl: undefined, dataDir });
});
afterAll(async () => {
  await store.close();
  await service.close();
  rmSync(dataDir, { recursive: true });
});

let users = 0;
/** Adds a user with the gallery of the cases, and a function that adds a key. */
async function addUser(plan: Partial<Plan> = {}) {
  const key = `permitted-user-${++users}`;
  const { id } = await addTestUser(store, key, plan);
  let keys = 0;
  const addKey = async (fields: Partial<NewKey>) => {
    const added = `${key}-${++keys}`;
    await store.addKey(id, newKey(hashKey(added), fields));
    return added;
  };
  return { key, addKey };
}

const isUnary = (method: DescMethod): method is DescMethodUnary => method.methodKind === "unary";

/** Calls a method over gRPC, and returns the reason of the error if there is one. */
async function callGrpc(port: number, key: string, method: DescMethod, request: Message): Promise<string> {
  const transport = createGrpcTransport({ baseUrl: `http://127.0.0.1:${port}` });
  const [header, input] = [{ "x-api-key": key }, createAsyncIterable([request])];
  try {
    if (isUnary(method)) await transport.unary(method, undefined, undefined, header, request as never);
    else {
      const stream = method as DescMethodStreaming;
      const { message } = await transport.stream(stream, undefined, undefined, header, input as never);
      for await (const one of message) {
        const { result } = one as unknown as Partial<AnalyzeImagesResponse>;
        if (result?.case === "error") return reasonOf(result.value);
      }
    }
    return "ok";
  } catch (fault) {
    return ConnectError.from(fault).findDetails(ErrorInfoSchema)[0]?.reason ?? String(fault);
  }
}

/** Calls a method over plain HTTP, and returns the reason of the error if there is one. */
async function callRest(port: number, key: string, method: DescMethod, request: Message): Promise<string> {
  if (isUnary(method)) {
    const rest = createUnaryClients(port, { "x-api-key": key }).at(-1)!;
    return rest.call(method, request as never).then(
      () => "ok",
      (error: Error) => error.message,
    );
  }
  const { path, method: verb } = lineRoute(method);
  const { galleryId, ...line } = toJson(method.input, request) as JsonObject;
  const isUpload = method.methodKind !== "server_streaming";
  const response = await fetch(`http://127.0.0.1:${port}${path.replace("{gallery_id}", String(galleryId))}`, {
    method: verb,
    headers: { "x-api-key": key, "content-type": "application/x-ndjson" },
    ...(isUpload && { body: `${JSON.stringify(line)}\n` }),
  });
  const text = await response.text();
  const [, reason] = /"reason": ?"([A-Z_]+)"/.exec(text) ?? [];
  if (reason && REFUSALS.includes(reason) && response.status !== 200) expect(response.status).toBe(403);
  return reason ?? "ok";
}

const LINES: Readonly<Record<string, readonly [verb: string, path: string]>> = {
  AnalyzeImages: ["POST", "/v1/images:analyzeStream"],
  ExportGallery: ["GET", "/v1/galleries/{gallery_id}:export"],
  ExportPerson: ["GET", "/v1/galleries/{gallery_id}/people/{person_id}:export"],
  ImportFaces: ["POST", "/v1/galleries/{gallery_id}:import"],
};
function lineRoute({ name }: DescMethod) {
  const [method, path] = LINES[name]!;
  return { method, path };
}

describe("what a key, a plan or the service does not permit is rejected over gRPC, REST and in streams", () => {
  const name = ({ method, needs }: (typeof PERMISSION_CASES)[0]) => `${method.name} with ${needs.join(", ")}`;

  test.each(PERMISSION_CASES.map((one) => [name(one), one] as const))("%s", async (_, one) => {
    const { method, request, needs } = one;
    const { addKey } = await addUser();
    const full = await addKey({});
    await createGalleryClient(service, full).createGallery({ galleryId: GALLERY });
    await enrol(createGalleryClient(service, full), GALLERY, PERSON);
    const permitted = await addKey({ scopes: needs });
    for (const call of [callGrpc, callRest]) {
      expect(REFUSALS).not.toContain(await call(service.port, permitted, method, request));
      for (const missing of needs) {
        const limited = await addKey({ scopes: PERMISSION_NAMES.filter((scope) => scope !== missing) });
        expect(await call(service.port, limited, method, request), missing).toBe("SCOPE_MISSING");
      }
    }
    for (const missing of needs) {
      const { key } = await addUser({ off: [missing] });
      for (const call of [callGrpc, callRest])
        expect(await call(service.port, key, method, request), missing).toBe("PURPOSE_DISABLED");
    }
  });

  test("with a service for which everything is off", async () => {
    const closed = await startTestService({ VISAGE_OFF: PERMISSION_NAMES.join(",") });
    onTestFinished(() => closed.close());
    for (const { method, request } of PERMISSION_CASES)
      for (const call of [callGrpc, callRest])
        expect(await call(closed.port, USER, method, request), method.name).toBe("PURPOSE_DISABLED");
  });
});

describe("what the service switches off", () => {
  const get = async (path: string, { port }: RunningService) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`);
    return { status: response.status, text: await response.text() };
  };

  test("is neither in its OpenAPI document nor on its pages", async () => {
    const closed = await startTestService({ VISAGE_OFF: "galleries, embeddings,urls,account" });
    onTestFinished(() => closed.close());
    for (const path of ["/galleries", "/account"]) expect((await get(path, closed)).status).toBe(404);
    for (const path of ["/", "/docs"])
      expect((await get(path, closed)).text).not.toMatch(/<a href="\.\/(galleries|account)"/);
    const { paths, components } = JSON.parse((await get("/openapi.json", closed)).text);
    expect(Object.keys(paths).filter((path) => !path.startsWith("/v1/admin/"))).toEqual([
      ...["/match_faces", "/compare_faces", "/get_image_attr"],
      ...["/v1/images:analyze", "/v1/faces:compare", "/v1/images:analyzeStream"],
      ...["/healthz", "/readyz"],
    ]);
    expect(components.schemas.V1Feature.enum).toEqual([
      "FEATURE_LANDMARKS",
      "FEATURE_ATTRIBUTES",
      "FEATURE_QUALITY",
    ]);
    expect(components.schemas.V1Image.properties).not.toHaveProperty("url");
    const { off } = JSON.parse((await get("/service-info.json", closed)).text);
    expect(off).toEqual([...GALLERIES, "account", "embeddings", "urls"]);
  });

  test("is not in its gRPC reflection", async () => {
    const closed = await startTestService({ VISAGE_OFF: "galleries,embeddings,account" });
    onTestFinished(() => closed.close());
    const transport = createGrpcTransport({ baseUrl: `http://127.0.0.1:${closed.port}` });
    const queries = createAsyncIterable([
      { messageRequest: { case: "listServices", value: "" } } as const,
      { messageRequest: { case: "fileContainingSymbol", value: "face.v1.FaceService.GetFaceVec" } } as const,
    ]);
    const responses = [];
    const { serverReflectionInfo } = createClient(ServerReflection, transport);
    for await (const { messageResponse } of serverReflectionInfo(queries)) responses.push(messageResponse);
    expect(responses).toMatchObject([
      {
        case: "listServicesResponse",
        value: {
          service: [
            { name: "face.v1.FaceService" },
            { name: "grpc.health.v1.Health" },
            { name: "grpc.reflection.v1.ServerReflection" },
            { name: "visage.v1.FaceAnalysisService" },
          ],
        },
      },
      { case: "errorResponse", value: { errorCode: Code.NotFound } },
    ]);
  });

  test("leaves everything else as it is", async () => {
    const { text } = await get("/", service);
    expect(text).toContain('<a href="./galleries"');
    expect((await get("/openapi.json", service)).text).toBe(
      readFileSync(join(PACKAGE_ROOT, "gen/openapi.json"), "utf8"),
    );
  });
});

test("an error names the permission, and who can change it", async () => {
  const { key, addKey } = await addUser({ off: ["urls"] });
  const limited = await addKey({ scopes: ["account"] });
  const call = async (user: string, body: object) => {
    const response = await fetch(`http://127.0.0.1:${service.port}/v1/images:analyze`, {
      method: "POST",
      headers: { "x-api-key": user, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    return { status: response.status, error: await response.json() };
  };
  expect(await call(key, { image: { url: "https://photos.invalid/1.jpg" } })).toMatchObject({
    status: 403,
    error: { reason: "PURPOSE_DISABLED", message: expect.stringContaining("plan") },
  });
  expect(await call(limited, { image: { content: "" } })).toMatchObject({
    status: 403,
    error: { reason: "SCOPE_MISSING", message: expect.stringContaining("scope analyze") },
  });
});

describe("an analysis without a list of features", () => {
  test("has the default ones that are permitted", async () => {
    const { addKey } = await addUser();
    const image = { source: { case: "content", value: photograph(3) } } as const;
    const analyze = async (scopes: readonly Permission[]) => {
      const headers = { "x-api-key": await addKey({ scopes }) };
      const transport = createGrpcTransport({ baseUrl: `http://127.0.0.1:${service.port}` });
      const { faces } = await createClient(FaceAnalysisService, transport).analyzeImage(
        { image },
        { headers },
      );
      const [{ landmarks, quality, age, gender }] = faces as [(typeof faces)[0]];
      return { landmarks: landmarks.length, quality: quality !== undefined, age: !!age, gender: !!gender };
    };
    const all = { landmarks: 68, quality: true, age: true, gender: true };
    expect(await analyze(["analyze", "landmarks", "attributes"])).toEqual(all);
    expect(await analyze(["analyze", "attributes"])).toEqual({ ...all, landmarks: 0 });
    expect(await analyze(["analyze"])).toEqual({ landmarks: 0, quality: true, age: false, gender: false });
  });
});

test("comparisons and searches estimate no age and gender without the permission", async () => {
  const { key, addKey } = await addUser();
  const limited = await addKey({ scopes: ["compare", "identify"] });
  await createGalleryClient(service, key).createGallery({ galleryId: GALLERY });
  await enrol(createGalleryClient(service, key), GALLERY, PERSON);
  const image = { source: { case: "content", value: photograph(3) } } as const;
  const source = { source: { case: "image", value: image } } as const;
  const transport = createGrpcTransport({ baseUrl: `http://127.0.0.1:${service.port}` });
  const populationsFor = async (user: string, assumeAdults: boolean) => {
    const [headers, options] = [{ "x-api-key": user }, { source, assumeAdults }];
    const faces = createClient(FaceAnalysisService, transport);
    const { matches } = await faces.compareFaces({ ...options, target: source }, { headers });
    const galleries = createClient(GalleryService, transport);
    const found = await galleries.identifyFaces({ ...options, galleryId: GALLERY }, { headers });
    return [...new Set([...matches, ...found.faces].map(({ population }) => population))];
  };
  expect(await populationsFor(limited, false)).toEqual([Population.AGE_10_AND_OLDER]);
  expect(await populationsFor(limited, true)).toEqual([Population.ADULTS]);
  expect(await populationsFor(key, false)).not.toContain(Population.AGE_10_AND_OLDER);
});

test("a search beyond the gallery's threshold needs wide-distance", async () => {
  const { key, addKey } = await addUser();
  const limited = await addKey({ scopes: ["identify", "identify-embedding"] });
  const owner = createGalleryClient(service, key);
  await owner.createGallery({ galleryId: GALLERY });
  await enrol(owner, GALLERY, PERSON);
  const identify = (user: string, maxDistance?: number) =>
    createGalleryClient(service, user)
      .identifyFaces({
        galleryId: GALLERY,
        source: embeddingSource(OTHER.values),
        ...(maxDistance !== undefined && { maxDistance }),
      })
      .then(
        ({ faces }) => faces[0]!,
        (fault: unknown) => ConnectError.from(fault).findDetails(ErrorInfoSchema)[0]!.reason,
      );
  const { threshold } = (await identify(limited)) as { threshold: number };
  expect(await identify(limited, threshold)).toMatchObject({ threshold });
  expect(await identify(limited, threshold + 0.01)).toBe("SCOPE_MISSING");
  expect(await identify(key, 0.9)).toMatchObject({ matches: [{ personId: PERSON.personId }] });
  await owner.updateGallery({ galleryId: GALLERY, maxDistance: 0.3 });
  expect(await identify(limited, Math.fround(0.3))).toMatchObject({ matches: [] });
  expect(await identify(limited, 0.31)).toBe("SCOPE_MISSING");
});

test("a plan that switches something off has effect within five seconds", async () => {
  const { key } = await addUser();
  const client = createGalleryClient(service, key);
  await client.listGalleries({});
  await store.updatePlan(key, { off: ["read"] });
  const reasons = () =>
    client.listGalleries({}).then(
      () => undefined,
      (fault: unknown) => ConnectError.from(fault).findDetails(ErrorInfoSchema)[0]!.reason,
    );
  await vi.waitFor(async () => expect(await reasons()).toBe("PURPOSE_DISABLED"), { timeout: 15_000 });
});
