import { clone, type DescFile, type DescMethod, toBinary } from "@bufbuild/protobuf";
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

/** The gRPC server reflection service, by which tools learn the schema without proto files. */
export interface Reflection {
  /** Adds grpc.reflection.v1 and v1alpha to a router. Their calls are bidirectional streams, which need HTTP/2. */
  routes(router: ConnectRouter): void;
}

type Request = v1.ServerReflectionRequest | v1alpha.ServerReflectionRequest;

/**
 * Creates the reflection of these files. It lists their services only, but knows all that they declare or import, except
 * the methods that are switched off.
 */
export function createReflection(
  files: readonly DescFile[],
  methodsOff: readonly DescMethod[] = [],
): Reflection {
  const respond = createResponder(files, methodsOff);

  // The two versions differ only in their names.
  async function* serverReflectionInfo<R extends Request>(requests: AsyncIterable<R>) {
    for await (const request of requests) {
      yield { validHost: request.host, originalRequest: request, messageResponse: respond(request) };
    }
  }

  return {
    routes(router) {
      router.service(v1.ServerReflection, { serverReflectionInfo });
      router.service(v1alpha.ServerReflection, { serverReflectionInfo });
    },
  };
}

/** Indexes and serializes all descriptors once, so that a query is only a lookup. */
function createResponder(served: readonly DescFile[], methodsOff: readonly DescMethod[]) {
  const all = withDependencies(served);
  const protos = new Map(all.map((file) => [file, withoutMethods(file, methodsOff)]));
  const service = served
    .flatMap((file) => protos.get(file)!.service.map(({ name }) => ({ name: scopeOf(file.proto) + name })))
    .sort((one, other) => (one.name < other.name ? -1 : 1));
  const bytes = new Map(
    [...protos].map(([file, proto]) => [file, toBinary(FileDescriptorProtoSchema, proto)]),
  );
  const files = new Map(all.map((file) => [file.proto.name, file]));
  const symbols = new Map(
    [...protos].flatMap(([file, proto]) => [...fileSymbols(proto)].map((name) => [name, file])),
  );
  const extensions = indexExtensions(all);

  return ({ messageRequest: query }: Request) => {
    switch (query.case) {
      case "listServices":
        return { case: "listServicesResponse", value: { service } } as const;
      case "fileByFilename":
        return fileResponse(files.get(query.value));
      case "fileContainingSymbol":
        return fileResponse(symbols.get(query.value));
      case "fileContainingExtension":
        return fileResponse(extensions.get(query.value.containingType)?.get(query.value.extensionNumber));
      case "allExtensionNumbersOfType":
        return extensionNumbersResponse(query.value);
      default:
        return errorResponse(Code.InvalidArgument, "The query is not supported.");
    }
  };

  function fileResponse(file: DescFile | undefined) {
    if (!file) return errorResponse(Code.NotFound, "Not found.");
    // Tools expect the requested file first.
    const fileDescriptorProto = withDependencies([file]).map((one) => bytes.get(one)!);
    return { case: "fileDescriptorResponse", value: { fileDescriptorProto } } as const;
  }

  function extensionNumbersResponse(baseTypeName: string) {
    const known = extensions.get(baseTypeName);
    if (!known) return errorResponse(Code.NotFound, "Not found.");
    const extensionNumber = [...known.keys()];
    return { case: "allExtensionNumbersResponse", value: { baseTypeName, extensionNumber } } as const;
  }
}

/** Creates an error in a response, so that the stream stays open for the next query. */
function errorResponse(errorCode: Code, errorMessage: string) {
  return { case: "errorResponse", value: { errorCode, errorMessage } } as const;
}

/** Returns the descriptor of a file without methods, and without the services that have no others. */
function withoutMethods({ proto, services }: DescFile, methods: readonly DescMethod[]): FileDescriptorProto {
  const rest = clone(FileDescriptorProtoSchema, proto);
  for (const [i, service] of rest.service.entries())
    service.method = service.method.filter((_, j) => !methods.includes(services[i]!.methods[j]!));
  rest.service = rest.service.filter(({ method }) => method.length > 0);
  return rest;
}

/** Returns the files followed by all that they import, without duplicates. */
function withDependencies(files: readonly DescFile[]): DescFile[] {
  const found = new Set(files);
  // The iterator of a set also visits entries that are added during the iteration.
  for (const file of found) for (const imported of file.dependencies) found.add(imported);
  return [...found];
}

/** Maps each message type to its extension numbers and the files that declare them. */
function indexExtensions(files: readonly DescFile[]): Map<string, Map<number, DescFile>> {
  const types = files.flatMap((file) => [...nestedTypes(file)]);
  const known = new Map<string, Map<number, DescFile>>();
  for (const type of types) if (type.kind === "message") known.set(type.typeName, new Map());
  for (const type of types) {
    if (type.kind === "extension") known.get(type.extendee.typeName)?.set(type.number, type.file);
  }
  return known;
}

/** Lists all symbols of a raw descriptor. The descriptors of protobuf-es lack the entry types of maps. */
function* fileSymbols(file: FileDescriptorProto): Iterable<string> {
  const scope = scopeOf(file);
  for (const { name, method } of file.service) {
    yield scope + name;
    for (const one of method) yield `${scope}${name}.${one.name}`;
  }
  for (const { name } of file.extension) yield scope + name;
  for (const one of file.enumType) yield* enumSymbols(scope, one);
  for (const one of file.messageType) yield* messageSymbols(scope, one);
}

function scopeOf({ package: name }: FileDescriptorProto): string {
  return name ? `${name}.` : "";
}

function* messageSymbols(scope: string, message: DescriptorProto): Iterable<string> {
  const inside = `${scope}${message.name}.`;
  yield scope + message.name;
  for (const { name } of [...message.field, ...message.oneofDecl, ...message.extension]) yield inside + name;
  for (const one of message.enumType) yield* enumSymbols(inside, one);
  for (const one of message.nestedType) yield* messageSymbols(inside, one);
}

/** Enum values are siblings of their enum, as in C++. */
function* enumSymbols(scope: string, { name, value }: EnumDescriptorProto): Iterable<string> {
  yield scope + name;
  for (const one of value) yield scope + one.name;
}
