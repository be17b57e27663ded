import { createServer, type Http2Server } from "node:http2";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createFileRegistry, equals, type FileRegistry, fromBinary, getOption } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import {
  type Client,
  type ClientDuplexStream,
  credentials,
  makeClientConstructor,
  type ServiceDefinition,
  status as StatusCode,
} from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { file_face_v1_face } from "../../gen/ts/face/v1/face_pb.ts";
import { http } from "../../gen/ts/google/api/annotations_pb.ts";
import { file_grpc_health_v1_health } from "../../gen/ts/grpc/health/v1/health_pb.ts";
import { file_grpc_reflection_v1_reflection } from "../../gen/ts/grpc/reflection/v1/reflection_pb.ts";
import { file_grpc_reflection_v1alpha_reflection } from "../../gen/ts/grpc/reflection/v1alpha/reflection_pb.ts";
import { AccountService, file_visage_v1_account } from "../../gen/ts/visage/v1/account_pb.ts";
import { FaceAnalysisService } from "../../gen/ts/visage/v1/face_analysis_pb.ts";
import { file_visage_v1_gallery, GalleryService } from "../../gen/ts/visage/v1/gallery_pb.ts";
import { PACKAGE_ROOT } from "../../src/package-root.ts";
import { createReflection } from "../../src/service/reflection.ts";

/** Messages in the manner of proto-loader with `keepCase` and `oneofs`. */
interface Query {
  readonly host?: string;
  readonly list_services?: string;
  readonly file_by_filename?: string;
  readonly file_containing_symbol?: string;
  readonly file_containing_extension?: { containing_type: string; extension_number: number };
  readonly all_extension_numbers_of_type?: string;
}

interface Answer {
  readonly valid_host: string;
  readonly original_request: Query;
  readonly message_response: string;
  readonly list_services_response?: { service: { name: string }[] };
  readonly file_descriptor_response?: { file_descriptor_proto: Uint8Array[] };
  readonly all_extension_numbers_response?: { base_type_name: string; extension_number: number[] };
  readonly error_response?: { error_code: number; error_message: string };
}

interface ReflectionClient extends Client {
  ServerReflectionInfo(): ClientDuplexStream<Query, Answer>;
}

const PROTOS = join(PACKAGE_ROOT, "proto");
const FACE_FILES = [
  "face/v1/face.proto",
  "google/api/annotations.proto",
  "google/api/http.proto",
  "google/protobuf/descriptor.proto",
  "rest/v1/options.proto",
];

let server: Http2Server;

beforeAll(async () => {
  const reflection = createReflection(
    [
      file_face_v1_face,
      file_visage_v1_account,
      file_visage_v1_gallery,
      file_grpc_health_v1_health,
      file_grpc_reflection_v1_reflection,
      file_grpc_reflection_v1alpha_reflection,
    ],
    [...AccountService.methods, ...FaceAnalysisService.methods, GalleryService.method.exportGallery],
  );
  server = createServer(connectNodeAdapter({ routes: reflection.routes }));
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
});

afterAll(() => new Promise((closed) => server.close(closed)));

describe.each(["v1", "v1alpha"])("grpc.reflection.%s", (version) => {
  const proto = loadSync(join(PROTOS, `grpc/reflection/${version}/reflection.proto`), {
    keepCase: true,
    oneofs: true,
  });
  const definition = proto[`grpc.reflection.${version}.ServerReflection`] as ServiceDefinition;
  const GrpcReflection = makeClientConstructor(definition, "ServerReflection");

  let client: ReflectionClient;
  let stream: ClientDuplexStream<Query, Answer>;
  let answers: AsyncIterator<Answer, undefined>;

  beforeEach(() => {
    const { port } = server.address() as AddressInfo;
    client = new GrpcReflection(
      `127.0.0.1:${port}`,
      credentials.createInsecure(),
    ) as unknown as ReflectionClient;
    stream = client.ServerReflectionInfo();
    answers = stream[Symbol.asyncIterator]();
  });

  afterEach(async () => {
    stream.end();
    expect(await answers.next()).toMatchObject({ done: true });
    client.close();
  });

  async function nextAnswer(): Promise<Answer> {
    const { value } = await answers.next();
    if (!value) throw new Error("the stream has ended");
    return value;
  }

  function ask(query: Query): Promise<Answer> {
    stream.write(query);
    return nextAnswer();
  }

  test("lists the services", async () => {
    const { list_services_response } = await ask({ list_services: "" });
    expect(list_services_response?.service.map(({ name }) => name)).toEqual([
      "face.v1.FaceService",
      "grpc.health.v1.Health",
      "grpc.reflection.v1.ServerReflection",
      "grpc.reflection.v1alpha.ServerReflection",
      "visage.v1.GalleryService",
    ]);
  });

  test.each([
    "AccountService",
    "AccountService.GetAccount",
    "FaceAnalysisService",
    "GalleryService.ExportGallery",
  ])("does not know visage.v1.%s, which is switched off", async (name) => {
    const { error_response } = await ask({ file_containing_symbol: `visage.v1.${name}` });
    expect(error_response?.error_code).toBe(StatusCode.NOT_FOUND);
  });

  test("describes files without what is switched off, but with its messages", async () => {
    const files = filesIn(await ask({ file_containing_symbol: "visage.v1.GalleryService" }));
    const services = files.flatMap(({ service }) => service);
    expect(services.map(({ name }) => name)).toEqual(["GalleryService"]);
    const names = GalleryService.methods.map(({ name }) => name);
    expect(services[0]!.method.map(({ name }) => name)).toEqual(
      names.filter((name) => name !== "ExportGallery"),
    );
    const [account] = filesIn(await ask({ file_containing_symbol: "visage.v1.Key" }));
    expect([account!.name, account!.service]).toEqual(["visage/v1/account.proto", []]);
  });

  test("returns the complete set of files of a service", async () => {
    const answer = await ask({ file_containing_symbol: "face.v1.FaceService" });
    expect(namesIn(answer)[0]).toBe("face/v1/face.proto");
    expect(namesIn(answer).sort()).toEqual(FACE_FILES);

    const rebuilt = registryFrom(answer);
    const file = rebuilt.getFile("face/v1/face.proto")!;
    expect(equals(FileDescriptorProtoSchema, file.proto, file_face_v1_face.proto)).toBe(true);
    const service = rebuilt.getService("face.v1.FaceService")!;
    expect(service.methods.map((method) => getOption(method, http).pattern.value)).toEqual([
      "/match_faces",
      "/compare_faces",
      "/get_image_attr",
      "/get_face_vec",
    ]);
    expect(rebuilt.getMessage("face.v1.Attributes")?.field.faces?.fieldKind).toBe("map");
  });

  test.each([...FACE_FILES, "grpc/health/v1/health.proto"])("finds the file %s by its name", async (name) => {
    const answer = await ask({ file_by_filename: name });
    expect(namesIn(answer)[0]).toBe(name);
    expect(registryFrom(answer).getFile(name)).toBeDefined();
  });

  test.each([
    ["service", "face.v1.FaceService", "face/v1/face.proto"],
    ["method", "face.v1.FaceService.MatchFaces", "face/v1/face.proto"],
    ["message", "face.v1.BoundingBox", "face/v1/face.proto"],
    ["field", "face.v1.BoundingBox.x1", "face/v1/face.proto"],
    ["oneof", "face.v1.Image.source", "face/v1/face.proto"],
    ["map entry", "face.v1.Attributes.FacesEntry", "face/v1/face.proto"],
    ["extension", "google.api.http", "google/api/annotations.proto"],
    ["custom option", "rest.v1.flatten", "rest/v1/options.proto"],
    ["nested enum", "grpc.health.v1.HealthCheckResponse.ServingStatus", "grpc/health/v1/health.proto"],
    ["enum value", "grpc.health.v1.HealthCheckResponse.SERVING", "grpc/health/v1/health.proto"],
    ["top-level enum", "google.protobuf.Edition", "google/protobuf/descriptor.proto"],
    ["nested message", "google.protobuf.DescriptorProto.ExtensionRange", "google/protobuf/descriptor.proto"],
  ])("finds the file of a symbol: %s", async (_, symbol, file) => {
    expect(namesIn(await ask({ file_containing_symbol: symbol }))[0]).toBe(file);
  });

  test("finds an extension by its number", async () => {
    const answer = await ask({
      file_containing_extension: {
        containing_type: "google.protobuf.MethodOptions",
        extension_number: http.number,
      },
    });
    expect(namesIn(answer)[0]).toBe("google/api/annotations.proto");
    expect(registryFrom(answer).getExtension("google.api.http")).toBeDefined();
  });

  test("lists the extension numbers of a type, also if it has none", async () => {
    const extended = await ask({ all_extension_numbers_of_type: "google.protobuf.MethodOptions" });
    expect(extended.all_extension_numbers_response).toEqual({
      base_type_name: "google.protobuf.MethodOptions",
      extension_number: [http.number],
    });
    const plain = await ask({ all_extension_numbers_of_type: "face.v1.Image" });
    expect(plain.all_extension_numbers_response?.base_type_name).toBe("face.v1.Image");
    expect(plain.all_extension_numbers_response?.extension_number ?? []).toEqual([]);
  });

  test.each<[string, Query]>([
    ["symbol", { file_containing_symbol: "face.v1.Nothing" }],
    ["package", { file_containing_symbol: "face.v1" }],
    ["empty symbol", { file_containing_symbol: "" }],
    ["file", { file_by_filename: "face/v1/nothing.proto" }],
    ["number", { file_containing_extension: { containing_type: "face.v1.Image", extension_number: 7 } }],
    ["extended type", { file_containing_extension: { containing_type: "Nothing", extension_number: 7 } }],
    ["type", { all_extension_numbers_of_type: "face.v1.Nothing" }],
  ])("responds NOT_FOUND to an unknown %s and keeps the stream open", async (_, query) => {
    const { error_response } = await ask(query);
    expect(error_response?.error_code).toBe(StatusCode.NOT_FOUND);
    expect((await ask({ list_services: "" })).message_response).toBe("list_services_response");
  });

  test("responds INVALID_ARGUMENT to an empty request and keeps the stream open", async () => {
    expect((await ask({})).error_response?.error_code).toBe(StatusCode.INVALID_ARGUMENT);
    expect((await ask({ list_services: "" })).message_response).toBe("list_services_response");
  });

  test("responds to the queries of a stream in order, each with its request", async () => {
    const queries: Query[] = [
      { host: "one", list_services: "*" },
      { host: "two", file_containing_symbol: "face.v1.Nothing" },
      { host: "three", file_by_filename: "grpc/health/v1/health.proto" },
      { host: "four", file_by_filename: "grpc/health/v1/health.proto" },
    ];
    for (const query of queries) stream.write(query);
    const got = [await nextAnswer(), await nextAnswer(), await nextAnswer(), await nextAnswer()];
    expect(got.map(({ original_request }) => original_request)).toMatchObject(queries);
    expect(got.map(({ valid_host }) => valid_host)).toEqual(queries.map(({ host }) => host));
    expect(got.map(({ message_response }) => message_response)).toEqual([
      "list_services_response",
      "error_response",
      "file_descriptor_response",
      "file_descriptor_response",
    ]);
  });
});

function filesIn({ file_descriptor_response }: Answer) {
  const files = file_descriptor_response?.file_descriptor_proto ?? [];
  return files.map((bytes) => fromBinary(FileDescriptorProtoSchema, bytes));
}

function namesIn(answer: Answer): string[] {
  return filesIn(answer).map(({ name }) => name);
}

/** Links the files of a response. Throws if an import is missing. */
function registryFrom(answer: Answer): FileRegistry {
  const [first, ...imported] = filesIn(answer);
  return createFileRegistry(first!, (name) => imported.find((file) => file.name === name));
}
