import type { OperationId, SampleRequest } from "./sample-request.ts";

const PAIR = (one: string, other: string) => [
  { field: one, file: "one.jpg" },
  { field: other, file: "two.jpg" },
];
const STAFF = { galleryId: "staff" };
const ANN = { ...STAFF, personId: "ann" };
const ACME = { user: "acme" };
const DOOR = { name: "door", scopes: ["identify"], galleryIds: ["staff"] };
/** Stands for the fingerprint of a key, which a response contains. */
export const EXAMPLE_FINGERPRINT = "0123456789";

/**
 * An example request of each operation. Sent in this order, all succeed: the examples of galleries create a gallery,
 * use it and delete it, and those of
 * the operator do the same with a plan and a user.
 */
export const EXAMPLES: Readonly<Record<OperationId, Omit<SampleRequest, "operation">>> = {
  matchFaces: { images: PAIR("img_1", "img_2") },
  compareFaces: { images: PAIR("img_1", "img_2") },
  getImageAttr: { images: [{ field: "image_attr", file: "photo.jpg" }] },
  getFaceVec: { images: [{ field: "img", file: "photo.jpg" }], fields: { quality: true } },
  v1AnalyzeImage: {
    images: [{ field: "image", file: "photo.jpg" }],
    fields: { features: ["FEATURE_QUALITY", "FEATURE_EMBEDDING"], maxFaces: 10 },
  },
  v1CompareFaces: { images: PAIR("source", "target"), fields: { maxFalseMatchRate: 0.001 } },
  v1AnalyzeImages: { images: PAIR("image", "image"), fields: { features: ["FEATURE_QUALITY"] } },
  v1CreateGallery: { fields: { ...STAFF, displayName: "Staff" } },
  v1ListGalleries: { fields: { pageSize: 50 } },
  v1GetGallery: { fields: STAFF },
  v1UpdateGallery: { fields: { ...STAFF, displayName: "All staff" } },
  v1EnrolFace: {
    images: [{ field: "source", file: "one.jpg" }],
    fields: { ...ANN, faceId: "front", displayName: "Ann" },
  },
  v1ListPeople: { fields: { ...STAFF, pageSize: 50 } },
  v1GetPerson: { fields: ANN },
  v1UpdatePerson: { fields: { ...ANN, displayName: "Ann Smith" } },
  v1IdentifyFaces: {
    images: [{ field: "source", file: "two.jpg" }],
    fields: { ...STAFF, maxResults: 3 },
  },
  v1ExportGallery: { fields: STAFF, linesFile: "staff.jsonl" },
  v1ImportFaces: { fields: STAFF, linesFile: "staff.jsonl" },
  v1ExportPerson: { fields: ANN, linesFile: "person.jsonl" },
  v1DeleteFace: { fields: { ...ANN, faceId: "front" } },
  v1DeletePerson: { fields: ANN },
  v1DeleteGallery: { fields: STAFF },
  v1ReplaceGallery: { fields: { ...STAFF, successorId: "staff-next" } },
  v1GetAccount: {},
  v1GetUsage: { fields: { firstMonth: "2026-01", lastMonth: "2026-12" } },
  v1CreateKey: { fields: DOOR },
  v1DeleteKey: { fields: { fingerprint: EXAMPLE_FINGERPRINT } },
  v1CreatePlan: {
    fields: { name: "gold" },
    limits: { requestsPerSecond: 20, requestsPerMonth: 100000 },
  },
  v1ListPlans: {},
  v1UpdatePlan: { fields: { name: "gold" }, limits: { maxGalleries: 50 } },
  v1CreateUser: { fields: { name: "acme", plan: "gold" } },
  v1ListUsers: { fields: { query: "ac", pageSize: 50 } },
  v1GetUser: { fields: ACME },
  v1UpdateUser: { fields: { ...ACME, extendDays: 30 } },
  v1CreateUserKey: { fields: { ...ACME, ...DOOR } },
  v1DeleteUserKey: { fields: { ...ACME, fingerprint: EXAMPLE_FINGERPRINT } },
  v1SumUsage: { fields: ACME },
  v1DeleteUser: { fields: ACME },
  v1DeletePlan: { fields: { name: "gold" } },
};

/** The example requests, in the order in which all succeed. */
export const EXAMPLE_REQUESTS: readonly SampleRequest[] = Object.entries(EXAMPLES).map(
  ([operation, example]) => ({ operation: operation as OperationId, ...example }),
);
