import { create, type DescMethod, type Message, type MessageInitShape } from "@bufbuild/protobuf";
import { FaceService } from "../../gen/ts/face/v1/face_pb.ts";
import { AccountService } from "../../gen/ts/visage/v1/account_pb.ts";
import { FaceAnalysisService, Feature } from "../../gen/ts/visage/v1/face_analysis_pb.ts";
import { GalleryService } from "../../gen/ts/visage/v1/gallery_pb.ts";
import type { Permission } from "../../src/permissions.ts";
import { embeddingSource, MODEL, testPeople } from "./galleries.ts";
import { photograph } from "./images.ts";

/** The services whose operations need permissions. */
export const PERMITTED_SERVICES = [FaceService, FaceAnalysisService, GalleryService, AccountService];

/** The gallery of the cases. */
export const GALLERY = "g";

/** A request, and all permissions that it needs. */
export interface PermissionCase {
  readonly method: DescMethod;
  readonly request: Message;
  readonly needs: readonly Permission[];
}

const { values } = testPeople(1, 7)[0]!;
const PHOTO = { source: { case: "content", value: photograph(3) } } as const;
const URL = { source: { case: "url", value: "https://photos.invalid/1.jpg" } } as const;
const SOURCE = { source: { case: "image", value: PHOTO } } as const;
const URL_SOURCE = { source: { case: "image", value: URL } } as const;
const EMBEDDING = embeddingSource(values);
const ids = { galleryId: GALLERY, personId: "nobody" };
const { EMBEDDING: VECTOR, LANDMARKS, ATTRIBUTES, QUALITY } = Feature;

const [face, analysis, gallery, account] = [
  FaceService.method,
  FaceAnalysisService.method,
  GalleryService.method,
  AccountService.method,
];

/** At least one request of every operation, and one for each field that needs a permission of its own. */
export const PERMISSION_CASES: readonly PermissionCase[] = [
  of(face.matchFaces, { img1: PHOTO, img2: PHOTO }, "compare"),
  of(face.matchFaces, { img1: PHOTO, img2: URL }, "compare", "urls"),
  of(face.compareFaces, { img1: PHOTO, img2: PHOTO }, "compare"),
  of(face.compareFaces, { img1: URL, img2: PHOTO }, "compare", "urls"),
  of(face.getImageAttr, { imageAttr: PHOTO }, "analyze", "attributes", "landmarks"),
  of(face.getImageAttr, { imageAttr: URL }, "analyze", "attributes", "landmarks", "urls"),
  of(face.getFaceVec, { img: PHOTO }, "analyze", "embeddings"),
  of(face.getFaceVec, { img: URL }, "analyze", "embeddings", "urls"),
  of(analysis.analyzeImage, { image: PHOTO }, "analyze"),
  of(analysis.analyzeImage, { image: PHOTO, features: [QUALITY] }, "analyze"),
  of(analysis.analyzeImage, { image: PHOTO, features: [LANDMARKS] }, "analyze", "landmarks"),
  of(analysis.analyzeImage, { image: PHOTO, features: [ATTRIBUTES] }, "analyze", "attributes"),
  of(analysis.analyzeImage, { image: PHOTO, features: [VECTOR] }, "analyze", "embeddings"),
  of(analysis.analyzeImage, { image: URL }, "analyze", "urls"),
  of(analysis.analyzeImages, { key: "1", request: { image: PHOTO } }, "analyze"),
  of(analysis.analyzeImages, { request: { image: PHOTO, features: [VECTOR] } }, "analyze", "embeddings"),
  of(analysis.analyzeImages, { request: { image: URL } }, "analyze", "urls"),
  of(analysis.compareFaces, { source: SOURCE, target: EMBEDDING }, "compare"),
  of(analysis.compareFaces, { source: EMBEDDING, target: URL_SOURCE }, "compare", "urls"),
  of(gallery.createGallery, { galleryId: GALLERY }, "enrol"),
  of(gallery.createGallery, { galleryId: GALLERY, maxDistance: 0.6 }, "enrol", "wide-distance"),
  of(gallery.getGallery, { galleryId: GALLERY }, "read"),
  of(gallery.listGalleries, {}, "read"),
  of(gallery.updateGallery, { galleryId: GALLERY, displayName: "G" }, "enrol"),
  of(gallery.updateGallery, { galleryId: "none", maxDistance: 0.9 }, "enrol", "wide-distance"),
  of(gallery.deleteGallery, { galleryId: "none" }, "delete"),
  of(gallery.replaceGallery, { galleryId: "none", successorId: "none" }, "enrol", "delete"),
  of(gallery.enrolFace, { ...ids, personId: "one", source: EMBEDDING }, "enrol"),
  of(gallery.enrolFace, { ...ids, source: URL_SOURCE }, "enrol", "urls"),
  of(
    gallery.enrolFace,
    { ...ids, personId: "one", source: EMBEDDING, checkPerson: true },
    "enrol",
    "identify",
    "identify-embedding",
  ),
  of(gallery.enrolFace, { ...ids, source: URL_SOURCE, checkPerson: true }, "enrol", "identify", "urls"),
  of(gallery.getPerson, ids, "read"),
  of(gallery.listPeople, { galleryId: GALLERY }, "read"),
  of(gallery.updatePerson, ids, "enrol"),
  of(gallery.deletePerson, ids, "delete"),
  of(gallery.deleteFace, { ...ids, faceId: "f" }, "delete"),
  of(gallery.identifyFaces, { galleryId: GALLERY, source: SOURCE }, "identify"),
  of(gallery.identifyFaces, { galleryId: GALLERY, source: URL_SOURCE }, "identify", "urls"),
  of(gallery.identifyFaces, { galleryId: GALLERY, source: EMBEDDING }, "identify", "identify-embedding"),
  of(gallery.exportGallery, { galleryId: GALLERY }, "export"),
  of(gallery.exportPerson, ids, "export"),
  of(gallery.importFaces, { ...ids, personId: "two", embedding: { values, model: MODEL } }, "enrol"),
  of(account.getAccount, {}, "account"),
  of(account.getUsage, {}, "account"),
  of(account.createKey, {}, "account"),
  of(account.deleteKey, { fingerprint: "0123456789" }, "account"),
];

function of<Method extends DescMethod>(
  method: Method,
  request: MessageInitShape<Method["input"]>,
  ...needs: readonly Permission[]
): PermissionCase {
  return { method, request: create(method.input, request) as Message, needs };
}
