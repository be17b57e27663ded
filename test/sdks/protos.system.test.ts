import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, expect, test } from "vitest";
import { PACKAGE_ROOT } from "../../src/package-root.ts";
import { installGenerators, SDK_PYTHON, SDK_TIMEOUT_MS } from "../support/sdk.ts";

let folder: string;
beforeAll(async () => {
  await installGenerators("python");
  folder = mkdtempSync(join(tmpdir(), "visage-protos-"));
}, SDK_TIMEOUT_MS);
afterAll(() => rmSync(folder, { recursive: true }));

test("protoc compiles the protos of the npm package alone", { timeout: SDK_TIMEOUT_MS }, () => {
  const listing = execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
    cwd: PACKAGE_ROOT,
  });
  const [{ files }] = JSON.parse(String(listing)) as [{ files: { path: string }[] }];
  const protos = files.map(({ path }) => path).filter((path) => path.endsWith(".proto"));
  for (const path of protos) cpSync(join(PACKAGE_ROOT, path), join(folder, path));

  const services = [
    "face/v1/face.proto",
    "visage/v1/face_analysis.proto",
    "visage/v1/gallery.proto",
    "visage/v1/account.proto",
    "visage/v1/admin.proto",
    "grpc/health/v1/health.proto",
  ];
  const args = ["-I", "proto", "--include_imports", "--descriptor_set_out=set.binpb", ...services];
  execFileSync(SDK_PYTHON, ["-m", "grpc_tools.protoc", ...args], { cwd: folder });

  // Our own descriptor set, made by buf, describes the same files.
  expect(fileNames(join(folder, "set.binpb"))).toEqual(
    fileNames(join(PACKAGE_ROOT, "gen/descriptors.binpb")),
  );
});

function fileNames(path: string): string[] {
  return fromBinary(FileDescriptorSetSchema, readFileSync(path))
    .file.map(({ name }) => name)
    .toSorted();
}
