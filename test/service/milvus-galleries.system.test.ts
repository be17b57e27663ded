import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { AdminService } from "../../gen/ts/visage/v1/admin_pb.ts";
import { openMilvus } from "../../src/galleries/milvus/open-milvus.ts";
import type { RunningService } from "../../src/main.ts";
import {
  createGalleryClient,
  enrol,
  type GalleryClient,
  identify,
  MODEL,
  type TestPerson,
  testPeople,
} from "../support/galleries.ts";
import { hasMilvus, startMilvus, type TestMilvus } from "../support/milvus.ts";
import { ADMIN_KEY, startTestService, USER } from "../support/service.ts";

const [ann, bob, eve] = testPeople(3, 1) as [TestPerson, TestPerson, TestPerson];

describe.skipIf(!hasMilvus)("Milvus has no template any more", () => {
  let milvus: TestMilvus;
  let dataDir: string;
  let service: RunningService;
  let client: GalleryClient;

  beforeAll(async () => {
    milvus = await startMilvus();
    dataDir = await mkdtemp(join(tmpdir(), "visage-milvus-galleries-"));
    const env = { VISAGE_DATA_DIR: dataDir, VISAGE_ADMIN_KEY: ADMIN_KEY, ...milvus.env };
    service = await startTestService(env);
    client = createGalleryClient(service, USER);
  });
  afterAll(async () => {
    await service?.close();
    await milvus?.remove();
    if (dataDir) await rm(dataDir, { recursive: true });
  });

  const countAll = async () => {
    const { templates } = openMilvus(milvus.settings, { database: {} as never, store: {} as never });
    return templates.countFaces({ model: MODEL });
  };
  /** Within a second or two of a request that does not wait for it. */
  const expectCount = (count: number) => expect.poll(countAll).toBe(count);

  beforeEach(async () => {
    for (const { galleryId } of (await client.listGalleries({})).galleries)
      await client.deleteGallery({ galleryId });
    await client.createGallery({ galleryId: "g" });
    await enrol(client, "g", ann);
    await enrol(client, "g", bob);
    expect(await identify(client, "g", ann)).toEqual([ann.personId]);
    await expectCount(2);
  });

  test("when the deletion of a person or a gallery is answered", async () => {
    const deletion = await client.deletePerson({ galleryId: "g", personId: ann.personId });
    expect([deletion.erasureFinished, await countAll()]).toEqual([true, 1]);
    expect(await identify(client, "g", ann)).toEqual([]);
    await client.deleteGallery({ galleryId: "g" });
    expect(await countAll()).toBe(0);
  });

  test("when a face has been deleted or replaced", async () => {
    await enrol(client, "g", { ...ann, values: eve.values });
    expect(await identify(client, "g", ann)).toEqual([]);
    expect(await identify(client, "g", eve)).toEqual([ann.personId]);
    await expectCount(2);
    await client.deleteFace({ galleryId: "g", personId: ann.personId, faceId: ann.faceId });
    expect(await countAll()).toBe(1);
  });

  test("when a gallery has been replaced", async () => {
    await client.createGallery({ galleryId: "next" });
    await enrol(client, "next", eve);
    await client.replaceGallery({ galleryId: "g", successorId: "next" });
    expect(await countAll()).toBe(1);
    expect([await identify(client, "g", ann), await identify(client, "g", eve)]).toEqual([
      [],
      [eve.personId],
    ]);
  });

  test("when the time of a gallery is over", async () => {
    await client.updateGallery({
      galleryId: "g",
      expiration: { case: "expireTime", value: timestampFromMs(Date.now() + 2_000) },
    });
    await expect
      .poll(() => client.getGallery({ galleryId: "g" }).then(() => "there", String))
      .toMatch(/no gallery/);
    await expectCount(0);
  });

  test("when a user has been deleted, and others are found", async () => {
    const transport = createGrpcTransport({
      baseUrl: `http://127.0.0.1:${service.port}`,
      interceptors: [
        (next) => (request) => {
          request.header.set("authorization", `Bearer ${ADMIN_KEY}`);
          return next(request);
        },
      ],
    });
    const admin = createClient(AdminService, transport);
    const { key } = await admin.createUser({ name: "leaver", plan: "unlimited" });
    const leaver = createGalleryClient(service, key);
    await leaver.createGallery({ galleryId: "own" });
    await enrol(leaver, "own", eve);
    expect(await identify(leaver, "own", eve)).toEqual([eve.personId]);
    await expectCount(3);
    await admin.deleteUser({ user: "leaver" });
    await expectCount(2);
    expect(await identify(client, "g", bob)).toEqual([bob.personId]);
  });
});
