import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { PACKAGE_ROOT } from "../../src/model-manifest.ts";

const read = (path: string) => readFileSync(join(PACKAGE_ROOT, path), "utf8");

test("the go_package of our protos is the path of their folder in the Go module", () => {
  const module = /^module (\S+)$/m.exec(read("sdks/go/go.mod"))?.[1];
  for (const folder of ["face/v1", "rest/v1"]) {
    const proto = { "face/v1": "face.proto", "rest/v1": "options.proto" }[folder];
    const goPackage = /^option go_package = "([^;"]+)/m.exec(read(`proto/${folder}/${proto}`))?.[1];
    expect(goPackage).toBe(`${module}/${folder}`);
  }
});
