import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { DescMethod } from "@bufbuild/protobuf";
import { PACKAGE_ROOT } from "../../src/package-root.ts";
import type { ExampleCall, ServiceMetadata } from "./api-metadata.ts";

/** The recorded examples. They are committed, because vectors and encoded images differ slightly between machines. */
export const EXAMPLES_FILE = join(PACKAGE_ROOT, "tools/openapi/examples.json");

/** The `face_rectangle` of the first example image, which also contains the face in the second one. */
export const EXAMPLE_BOX = "69,72,188,203";

/** Reads one recorded call of each operation, by the full name of its method. */
export function readExamples(): Readonly<Record<string, ExampleCall>> {
  return JSON.parse(readFileSync(EXAMPLES_FILE, "utf8")) as Record<string, ExampleCall>;
}

/** Returns the full name of a method, such as `face.v1.FaceService.MatchFaces`. */
export function fullMethodName({ parent, name }: DescMethod): string {
  return `${parent.typeName}.${name}`;
}

/** Returns the example of a method. Throws if there is none. */
export function exampleOf(method: DescMethod, { examples }: Pick<ServiceMetadata, "examples">): ExampleCall {
  const example = examples[fullMethodName(method)];
  if (!example) throw new Error(`There is no example of ${fullMethodName(method)}.`);
  return example;
}
