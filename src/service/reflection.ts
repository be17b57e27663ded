import { type DescFile, toBinary } from "@bufbuild/protobuf";
import { nestedTypes } from "@bufbuild/protobuf/reflect";
import {
  type DescriptorProto,
  type EnumDescriptorProto,
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
} from "@bufbuild/protobuf/wkt";
import { Code, type ConnectRouter } from "@connectrpc/connect";
import * as v1 from "../../gen/ts/grpc/reflection/v1/reflection_pb.ts";
import * as v1alpha from "../../gen/ts/grpc/reflection/v1alpha/reflection_pb.ts";

/** The service that tells gRPC tools what is served, so that they need no proto files. */
export interface Reflection {
  /** Adds grpc.reflection.v1 and v1alpha to a router. Its calls are two-way streams: they need HTTP/2. */
  routes(router: ConnectRouter): void;
}

type Request = v1.ServerReflectionRequest | v1alpha.ServerReflectionRequest;

/**
 * Creates the reflection of these files. Their services are listed, no others; everything that they
 * declare or import can be asked for.
 */
export function createReflection(files: readonly DescFile[]): Reflection {
  const answer = createAnswers(files);

  // The two versions differ in their names alone.
  async function* converse<R extends Request>(requests: AsyncIterable<R>) {
    for await (const request of requests) {
      yield { validHost: request.host, originalRequest: request, messageResponse: answer(request) };
    }
  }

  return {
    routes(router) {
      router.service(v1.ServerReflection, { serverReflectionInfo: converse });
      router.service(v1alpha.ServerReflection, { serverReflectionInfo: converse });
    },
  };
}

/** All is looked up and serialized here, once: a query costs no more than finding its answer. */
function createAnswers(served: readonly DescFile[]) {
  const service = served
    .flatMap(({ services }) => services.map(({ typeName }) => ({ name: typeName })))
    .sort((one, other) => (one.name < other.name ? -1 : 1));
  const all = withDependencies(served);
  const bytes = new Map(all.map((file) => [file, toBinary(FileDescriptorProtoSchema, file.proto)]));
  const files = new Map(all.map((file) => [file.proto.name, file]));
  const symbols = new Map(all.flatMap((file) => [...symbolsOf(file.proto)].map((name) => [name, file])));
  const extensions = extensionsIn(all);

  return ({ messageRequest: query }: Request) => {
    switch (query.case) {
      case "listServices":
        return { case: "listServicesResponse", value: { service } } as const;
      case "fileByFilename":
        return fileAnswer(files.get(query.value));
      case "fileContainingSymbol":
        return fileAnswer(symbols.get(query.value));
      case "fileContainingExtension":
        return fileAnswer(extensions.get(query.value.containingType)?.get(query.value.extensionNumber));
      case "allExtensionNumbersOfType":
        return numbersAnswer(query.value);
      default:
        return refusal(Code.InvalidArgument, "the request asks for nothing that is known here");
    }
  };

  function fileAnswer(file: DescFile | undefined) {
    if (!file) return refusal(Code.NotFound, "not found");
    // Tools take the first file for the one that they asked for.
    const fileDescriptorProto = withDependencies([file]).map((each) => bytes.get(each)!);
    return { case: "fileDescriptorResponse", value: { fileDescriptorProto } } as const;
  }

  function numbersAnswer(baseTypeName: string) {
    const known = extensions.get(baseTypeName);
    if (!known) return refusal(Code.NotFound, "not found");
    const extensionNumber = [...known.keys()];
    return { case: "allExtensionNumbersResponse", value: { baseTypeName, extensionNumber } } as const;
  }
}

/** A refusal is an answer like any other, so that the stream goes on for the next query. */
function refusal(errorCode: Code, errorMessage: string) {
  return { case: "errorResponse", value: { errorCode, errorMessage } } as const;
}

/** The files and, after them, all that they import, each once. */
function withDependencies(files: readonly DescFile[]): DescFile[] {
  const found = new Set(files);
  // A set's iterator also visits what is added on the way.
  for (const file of found) for (const imported of file.dependencies) found.add(imported);
  return [...found];
}

/** For each message type: the numbers of its extensions, and the file that declares each. */
function extensionsIn(files: readonly DescFile[]): Map<string, Map<number, DescFile>> {
  const types = files.flatMap((file) => [...nestedTypes(file)]);
  const known = new Map<string, Map<number, DescFile>>();
  for (const type of types) if (type.kind === "message") known.set(type.typeName, new Map());
  for (const type of types) {
    if (type.kind === "extension") known.get(type.extendee.typeName)?.set(type.number, type.file);
  }
  return known;
}

/** Reads the raw descriptors: those of protobuf-es leave out the entry types of maps. */
function* symbolsOf(file: FileDescriptorProto): Iterable<string> {
  const scope = file.package ? `${file.package}.` : "";
  for (const { name, method } of file.service) {
    yield scope + name;
    for (const each of method) yield `${scope}${name}.${each.name}`;
  }
  for (const { name } of file.extension) yield scope + name;
  for (const each of file.enumType) yield* symbolsOfEnum(scope, each);
  for (const each of file.messageType) yield* symbolsOfMessage(scope, each);
}

function* symbolsOfMessage(scope: string, message: DescriptorProto): Iterable<string> {
  const inside = `${scope}${message.name}.`;
  yield scope + message.name;
  for (const { name } of [...message.field, ...message.oneofDecl, ...message.extension]) yield inside + name;
  for (const each of message.enumType) yield* symbolsOfEnum(inside, each);
  for (const each of message.nestedType) yield* symbolsOfMessage(inside, each);
}

/** The values of an enum are named beside it, not inside it, as in C++. */
function* symbolsOfEnum(scope: string, { name, value }: EnumDescriptorProto): Iterable<string> {
  yield scope + name;
  for (const each of value) yield scope + each.name;
}
