// Writes the OpenAPI document to a file. `npm run generate` runs it.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createFileRegistry, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { FaceService } from "../../gen/ts/face/v1/face_pb.ts";
import { AccountService } from "../../gen/ts/visage/v1/account_pb.ts";
import { AdminService } from "../../gen/ts/visage/v1/admin_pb.ts";
import { FaceAnalysisService } from "../../gen/ts/visage/v1/face_analysis_pb.ts";
import { GalleryService } from "../../gen/ts/visage/v1/gallery_pb.ts";
import { PACKAGE_ROOT } from "../../src/package-root.ts";
import { accountMetadata, adminMetadata } from "./account-metadata.ts";
import { createDocument } from "./document.ts";
import { documentMetadata } from "./document-metadata.ts";
import { faceMetadata } from "./face-metadata.ts";
import { galleryMetadata } from "./gallery-metadata.ts";
import { typedMetadata } from "./typed-metadata.ts";

const [target] = process.argv.slice(2);
if (!target) throw new Error("Usage: node dist/tools/openapi/write.js FILE");

// Generated code has no comments, so build the descriptors from the proto files.
const buf = join(PACKAGE_ROOT, "node_modules/.bin/buf");
const args = [
  "build",
  "proto",
  "--path",
  "proto/face",
  "--path",
  "proto/visage",
  "--as-file-descriptor-set",
  "--output",
  "-",
];
const descriptors = fromBinary(FileDescriptorSetSchema, execFileSync(buf, args, { cwd: PACKAGE_ROOT }));
const registry = createFileRegistry(descriptors);
const services = [
  { service: registry.getService(FaceService.typeName)!, metadata: faceMetadata() },
  { service: registry.getService(FaceAnalysisService.typeName)!, metadata: typedMetadata() },
  { service: registry.getService(GalleryService.typeName)!, metadata: galleryMetadata() },
  { service: registry.getService(AccountService.typeName)!, metadata: accountMetadata() },
  { service: registry.getService(AdminService.typeName)!, metadata: adminMetadata() },
];

const { version } = JSON.parse(readFileSync(join(PACKAGE_ROOT, "package.json"), "utf8")) as {
  version: string;
};
const document = createDocument(services, documentMetadata(version));
writeFileSync(target, `${JSON.stringify(document, undefined, 2)}\n`);
