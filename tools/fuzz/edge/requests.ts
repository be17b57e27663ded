import { create, toBinary } from "@bufbuild/protobuf";
import {
  CompareFacesRequestSchema,
  GetFaceVecRequestSchema,
  GetImageAttrRequestSchema,
  MatchFacesRequestSchema,
} from "../../../gen/ts/face/v1/face_pb.ts";

const imageOf = (value: Uint8Array) => ({ source: { case: "content" as const, value } });

/**
 * The operations with their REST path, RPC path, image fields and a Protobuf request. Requests take the whole photo as a
 * face, because detection may fail on a small photo.
 */
export const OPERATIONS = [
  {
    path: "/get_face_vec",
    rpcPath: "/face.v1.FaceService/GetFaceVec",
    fields: ["img"],
    message: (photo: Uint8Array) =>
      toBinary(
        GetFaceVecRequestSchema,
        create(GetFaceVecRequestSchema, { img: imageOf(photo), faceDet: false }),
      ),
  },
  {
    path: "/get_image_attr",
    rpcPath: "/face.v1.FaceService/GetImageAttr",
    fields: ["image_attr"],
    message: (photo: Uint8Array) =>
      toBinary(
        GetImageAttrRequestSchema,
        create(GetImageAttrRequestSchema, { imageAttr: imageOf(photo), faceDet: false }),
      ),
  },
  {
    path: "/match_faces",
    rpcPath: "/face.v1.FaceService/MatchFaces",
    fields: ["img_1", "img_2"],
    message: (photo: Uint8Array) =>
      toBinary(
        MatchFacesRequestSchema,
        create(MatchFacesRequestSchema, { img1: imageOf(photo), img2: imageOf(photo), faceDet: false }),
      ),
  },
  {
    path: "/compare_faces",
    rpcPath: "/face.v1.FaceService/CompareFaces",
    fields: ["img_1", "img_2"],
    message: (photo: Uint8Array) =>
      toBinary(
        CompareFacesRequestSchema,
        create(CompareFacesRequestSchema, { img1: imageOf(photo), img2: imageOf(photo), faceDet: false }),
      ),
  },
] as const;
export type Operation = (typeof OPERATIONS)[number];

export const HEALTH_CHECK = "/grpc.health.v1.Health/Check";
export const HEALTH_WATCH = "/grpc.health.v1.Health/Watch";
export const REFLECTION = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";

/** Every path that the service handles, and some unknown ones. */
export const PATHS: readonly string[] = [
  ...OPERATIONS.flatMap(({ path, rpcPath }) => [path, rpcPath]),
  HEALTH_CHECK,
  HEALTH_WATCH,
  REFLECTION,
  "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
  "/healthz",
  "/readyz",
  "/metrics",
  "/openapi.json",
  "/",
  "/docs",
  "/no/such/path",
  "/face.v1.FaceService/",
  "/face.v1.FaceService/NoSuchMethod",
  "/v1/images:analyze",
  "/v1/faces:compare",
  "/v1/images:analyzeStream",
  "/visage.v1.FaceAnalysisService/AnalyzeImage",
  "/visage.v1.FaceAnalysisService/AnalyzeImages",
  "/visage.v1.FaceAnalysisService/CompareFaces",
];

/** The content types that select a protocol. */
export const RPC_TYPES = [
  "application/grpc",
  "application/grpc+proto",
  "application/grpc+json",
  "application/grpc-web",
  "application/grpc-web+proto",
  "application/grpc-web-text",
  "application/proto",
  "application/json",
  "application/connect+proto",
  "application/connect+json",
] as const;

export const TIMEOUTS = [
  "99999999H",
  "0n",
  "1n",
  "1u",
  "99999999n",
  "999999999S",
  "-1S",
  "1",
  "S",
  "",
  "1e3S",
  "18446744073709551616H",
  "\xff",
] as const;

export const MULTIPART_TYPE = "multipart/form-data; boundary=X";

/** A multipart form with the photo in each image field. By default it takes the whole photo as a face. */
export function multipart({ fields }: Operation, photo: Uint8Array, detectsFaces = false): Buffer {
  const parts = fields.flatMap((name) => [
    Buffer.from(`--X\r\nContent-Disposition: form-data; name="${name}"; filename="a.jpg"\r\n\r\n`),
    photo,
    Buffer.from("\r\n"),
  ]);
  const option = detectsFaces ? "" : '--X\r\nContent-Disposition: form-data; name="face_det"\r\n\r\n0\r\n';
  return Buffer.concat([...parts, Buffer.from(`${option}--X--\r\n`)]);
}

export function json({ fields }: Operation, photo: Uint8Array): Buffer {
  const image = Buffer.from(photo).toString("base64");
  const entries = fields.map((name) => [name, image]);
  return Buffer.from(JSON.stringify({ ...Object.fromEntries(entries), face_det: "0" }));
}
