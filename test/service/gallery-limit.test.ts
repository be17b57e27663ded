import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { GalleryService, ReplaceGalleryRequestSchema } from "../../gen/ts/visage/v1/gallery_pb.ts";
import type { Gallery } from "../../src/galleries/gallery-store.ts";
import { limitToGalleries } from "../../src/service/gallery-limit.ts";

test("a request gets the ids of its galleries, so that an alias that moves leads to no other one", async () => {
  const galleries = {
    getGallery: async (_: string, name: string) =>
      ({ id: name.replace("alias-of-", ""), alias: name }) as Gallery,
  };
  const request = create(ReplaceGalleryRequestSchema, { galleryId: "alias-of-a", successorId: "b" });
  const caller = { userId: "ann", rights: { galleryIds: ["a", "b"] } };
  await limitToGalleries(request, GalleryService.method.replaceGallery, caller, galleries);
  expect(request).toMatchObject({ galleryId: "a", successorId: "b" });
});
