import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { PACKAGE_ROOT } from "../../src/package-root.ts";

const read = (path: string) => readFileSync(join(PACKAGE_ROOT, path), "utf8");

test.each(["LICENSE", "NOTICE"])("the module has the %s of the repository", (name) => {
  expect(read(`sdks/go/${name}`)).toBe(read(name));
});

test("the go_package of our protos is the path of their folder in the Go module", () => {
  const module = /^module (\S+)$/m.exec(read("sdks/go/go.mod"))?.[1];
  for (const path of [
    "face/v1/face.proto",
    "rest/v1/options.proto",
    "visage/v1/face_analysis.proto",
    "visage/v1/gallery.proto",
    "visage/v1/account.proto",
    "visage/v1/admin.proto",
  ]) {
    const goPackage = /^option go_package = "([^;"]+)/m.exec(read(`proto/${path}`))?.[1];
    expect(goPackage).toBe(`${module}/${dirname(path)}`);
  }
});
