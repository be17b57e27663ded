import {
  clone,
  create,
  createFileRegistry,
  type DescService,
  type MessageInitShape,
  setExtension,
} from "@bufbuild/protobuf";
import {
  FileDescriptorProtoSchema,
  type MethodDescriptorProto,
  MethodOptionsSchema,
} from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "vitest";
import { FaceService, file_face_v1_face } from "../../gen/ts/face/v1/face_pb.ts";
import { http } from "../../gen/ts/google/api/annotations_pb.ts";
import { HttpRuleSchema } from "../../gen/ts/google/api/http_pb.ts";
import { FaceAnalysisService } from "../../gen/ts/visage/v1/face_analysis_pb.ts";
import { createPathMatcher, readRoutes, readStreamRoute } from "../../src/rest/routes.ts";

type Rule = MessageInitShape<typeof HttpRuleSchema>;

/** The face service with changes to the descriptor of its last method. */
function serviceWith(change: Partial<MethodDescriptorProto>): DescService {
  const proto = clone(FileDescriptorProtoSchema, file_face_v1_face.proto);
  Object.assign(proto.service[0]!.method.at(-1)!, change);
  const dependencies = new Map(file_face_v1_face.dependencies.map((file) => [file.proto.name, file]));
  return createFileRegistry(proto, (name) => dependencies.get(name)).getService(FaceService.typeName)!;
}

function withRule(rule: Rule): Partial<MethodDescriptorProto> {
  const options = create(MethodOptionsSchema);
  setExtension(options, http, create(HttpRuleSchema, rule));
  return { options };
}

function post(value: string): NonNullable<Rule["pattern"]> {
  return { case: "post", value };
}

describe("routes", () => {
  test("are read from the http rules", () => {
    const routes = [...readRoutes(FaceService).values()].map(({ verb, path, method }) => [
      verb,
      path,
      method.name,
    ]);
    expect(routes).toEqual([
      ["POST", "/match_faces", "MatchFaces"],
      ["POST", "/compare_faces", "CompareFaces"],
      ["POST", "/get_image_attr", "GetImageAttr"],
      ["POST", "/get_face_vec", "GetFaceVec"],
    ]);
  });

  test("include additional bindings", () => {
    const binding: Rule = { pattern: { case: "put", value: "/vec" }, body: "*" };
    const routes = readRoutes(
      serviceWith(withRule({ pattern: post("/v"), body: "*", additionalBindings: [binding] })),
    );
    expect(routes).toContainEqual(
      expect.objectContaining({
        verb: "POST",
        path: "/v",
        method: expect.objectContaining({ name: "GetFaceVec" }),
      }),
    );
    expect(routes).toContainEqual(
      expect.objectContaining({
        verb: "PUT",
        path: "/vec",
        method: expect.objectContaining({ name: "GetFaceVec" }),
      }),
    );
  });

  test.each<[string, Partial<MethodDescriptorProto>, RegExp]>([
    ["no rule", { options: create(MethodOptionsSchema) }, /GetFaceVec .* no http rule/],
    ["an unknown variable", withRule({ pattern: post("/a/{id}"), body: "*" }), /variable id/],
    ["a variable of several segments", withRule({ pattern: post("/a/{id=b/*}"), body: "*" }), /template \/a/],
    ["a path without a leading slash", withRule({ pattern: post("a"), body: "*" }), /template a/],
    ["no pattern", withRule({ body: "*" }), /no known HTTP method/],
    ["a body of one field", withRule({ pattern: post("/a"), body: "img" }), /"img"/],
    ["no body", withRule({ pattern: post("/a") }), /body ""/],
    ["a body of GET", withRule({ pattern: { case: "get", value: "/a" }, body: "*" }), /body "\*"/],
    ["the path of another rule", withRule({ pattern: post("/match_faces"), body: "*" }), /\/match_faces/],
  ])("cannot be read with %s", (_, change, reason) => {
    expect(() => readRoutes(serviceWith(change))).toThrow(reason);
  });

  test("may have variables and a verb in their paths", () => {
    const match = createPathMatcher("/v1/galleries/{gallery_id}/people/{person_id}");
    expect(match("/v1/galleries/a%20b/people/c.d")).toEqual({ gallery_id: "a b", person_id: "c.d" });
    expect(match("/v1/galleries/a%2Fb/people/%zz")).toEqual({ gallery_id: "a/b", person_id: "%zz" });
    for (const path of ["/v1/galleries/a/people/", "/v1/galleries/a/people/b/c", "/v1/galleries//people/b"])
      expect(match(path)).toBeUndefined();
    const matchVerb = createPathMatcher("/v1/galleries/{gallery_id}:identify");
    expect(matchVerb("/v1/galleries/a:identify")).toEqual({ gallery_id: "a" });
    expect(matchVerb("/v1/galleries/a")).toBeUndefined();
  });

  test("of methods that stream are left out", () => {
    expect(readRoutes(FaceAnalysisService).map(({ path }) => path)).toEqual([
      "/v1/images:analyze",
      "/v1/faces:compare",
    ]);
    expect(readStreamRoute(FaceAnalysisService.method.analyzeImages).path).toBe("/v1/images:analyzeStream");
  });
});
