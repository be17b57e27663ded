import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { FaceService } from "../../gen/ts/face/v1/face_pb.ts";
import { AccountService } from "../../gen/ts/visage/v1/account_pb.ts";
import { AdminService } from "../../gen/ts/visage/v1/admin_pb.ts";
import { FaceAnalysisService } from "../../gen/ts/visage/v1/face_analysis_pb.ts";
import { GalleryService } from "../../gen/ts/visage/v1/gallery_pb.ts";
import { PACKAGE_ROOT } from "../../src/package-root.ts";
import { curlSample } from "../../src/web/samples/curl.ts";
import { EXAMPLE_REQUESTS, EXAMPLES } from "../../src/web/samples/examples.ts";
import { grpcurlSample } from "../../src/web/samples/grpcurl.ts";
import { SAMPLE_OPERATIONS, type SampleRequest } from "../../src/web/samples/sample-request.ts";
import { SAMPLE_LANGUAGES } from "../../src/web/samples/samples.ts";
import { serviceAddress } from "../../src/web/samples/service-address.ts";
import { codeBlock } from "../../tools/reference/highlight.ts";
import { escapeHtml } from "../../tools/reference/html.ts";

interface Document {
  readonly paths: Record<
    string,
    Record<string, { readonly operationId: string; readonly tags: readonly string[] }>
  >;
}

const document = JSON.parse(readFileSync(join(PACKAGE_ROOT, "gen/openapi.json"), "utf8")) as Document;
const ADDRESS = { address: "http://localhost:8080" };

/** What the OpenAPI document says of an operation: its method, and its path with JSON names. */
const documented = new Map(
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId }]) => [
      operationId,
      `${method.toUpperCase()} ${path.replaceAll(/_([a-z])(?=\w*\})/g, (_, letter: string) => letter.toUpperCase())}`,
    ]),
  ),
);

describe("the operations of the samples", () => {
  test("are those of the OpenAPI document", () => {
    const probes = ["isAlive", "isReady"];
    const missing = [...documented.keys()].filter((id) => !(id in SAMPLE_OPERATIONS) && !probes.includes(id));
    expect(missing).toEqual([]);
    for (const [id, { method, path }] of Object.entries(SAMPLE_OPERATIONS))
      if (documented.has(id)) expect(`${method} ${path}`).toBe(documented.get(id));
  });

  test("name existing RPCs", () => {
    const services = [FaceService, FaceAnalysisService, GalleryService, AccountService, AdminService];
    const rpcs = services.flatMap(({ typeName, methods }) =>
      methods.map(({ name }) => `${typeName}/${name}`),
    );
    expect(Object.values(SAMPLE_OPERATIONS).map(({ rpc }) => rpc)).toEqual(expect.arrayContaining(rpcs));
  });

  test("have an example each", () => {
    expect(Object.keys(EXAMPLES).sort()).toEqual(Object.keys(SAMPLE_OPERATIONS).sort());
  });
});

describe("a sample", () => {
  test.each(SAMPLE_LANGUAGES)(
    "in $name reads the key from the environment unless it is given",
    ({ write }) => {
      const [request] = EXAMPLE_REQUESTS;
      expect(write(request!, ADDRESS)).toContain("VISAGE_KEY");
      const withKey = write(request!, { ...ADDRESS, key: 'it\'s "secret"' });
      expect(withKey).toContain("secret");
      expect(withKey).not.toContain("VISAGE_KEY");
    },
  );

  test("writes options and boxes on lines of their own", () => {
    const request: SampleRequest = {
      operation: "getFaceVec",
      images: [{ field: "img", file: "my photo.jpg", boxes: [[1, 2, 30, 40]] }],
      fields: { quality: true, face_det: false },
    };
    expect(curlSample(request, ADDRESS)).toBe(
      [
        'curl -H "user_id: $VISAGE_KEY" \\',
        "  -F 'img=@my photo.jpg' \\",
        "  -F bboxes=1,2,30,40 \\",
        "  -F quality=1 \\",
        "  -F face_det=0 \\",
        "  http://localhost:8080/get_face_vec",
      ].join("\n"),
    );
  });

  test("begins with the package that the documentation names", () => {
    const documentation = readFileSync(join(PACKAGE_ROOT, "docs/clients.md"), "utf8");
    const packages = [...documentation.matchAll(/^\| (\w+).*? \| `([^`]+)` \| \[sdks/gm)];
    expect(packages.length).toBe(4);
    for (const [, language, name] of packages) {
      const { write } = SAMPLE_LANGUAGES.find((found) => found.name === language)!;
      const [install] = write({ operation: "v1ListGalleries" }, ADDRESS)!.split("\n");
      expect(install).toMatch(/^(#|\/\/) /);
      expect(install!.split(" ").at(-1)).toBe(name);
    }
  });

  test("keeps every character when it is highlighted", () => {
    for (const request of EXAMPLE_REQUESTS)
      for (const { id, install, write } of SAMPLE_LANGUAGES) {
        const code = write(request, ADDRESS) ?? "";
        const html = codeBlock(install ? id : "shell", code, "Code");
        if (code) expect(html).toContain("<span class=");
        expect(html.replaceAll(/<[^>]+>/g, "")).toBe(escapeHtml(code));
      }
  });

  test("calls the service without the page's own name, query and fragment", () => {
    expect(serviceAddress("http://faces.example:8080/#result")).toBe("http://faces.example:8080");
    expect(serviceAddress("https://faces.example/visage/docs?operation=match#result")).toBe(
      "https://faces.example/visage",
    );
  });

  test("escapes ids in the path", () => {
    const request: SampleRequest = { operation: "v1GetGallery", fields: { galleryId: "a/b?c" } };
    expect(curlSample(request, ADDRESS)).toContain("/v1/galleries/a%2Fb%3Fc");
  });

  test("calls gRPC over TLS if the address has https", () => {
    const request: SampleRequest = { operation: "v1ListGalleries" };
    expect(grpcurlSample(request, { address: "https://faces.example" })).toBe(
      [
        'grpcurl -H "Authorization: Bearer $VISAGE_KEY" \\',
        "  -d '{}' \\",
        "  faces.example:443 visage.v1.GalleryService/ListGalleries",
      ].join("\n"),
    );
  });
});
