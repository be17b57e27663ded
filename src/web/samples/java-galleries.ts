import { call, face, float, options, setter } from "./java-syntax.ts";
import type { OperationId, SampleRequest } from "./sample-request.ts";
import { isOn, numberOf, quote, textOf } from "./sdk-arguments.ts";

/** The statements of the samples of galleries, in which `visage` is the client. */
export const javaGalleryStatements: Partial<
  Record<OperationId, (request: SampleRequest) => readonly string[]>
> = {
  v1CreateGallery: (request) => [
    `var gallery = ${galleries(request, "create", [], options(name(request), distance(request)))};`,
    'System.out.println(gallery.getGalleryId() + " " + gallery.getModel());',
  ],
  v1ListGalleries: () => [
    "for (var gallery : visage.galleries().list()) {",
    '  System.out.println(gallery.getGalleryId() + " " + gallery.getPeopleCount());',
    "}",
  ],
  v1GetGallery: (request) => [
    `var gallery = ${galleries(request, "get")};`,
    'System.out.println(gallery.getDisplayName() + " " + gallery.getPeopleCount());',
  ],
  v1UpdateGallery: (request) => [
    `var gallery = ${galleries(request, "update", [], options(name(request), distance(request)) ?? "request -> {}")};`,
    "System.out.println(gallery.getDisplayName());",
  ],
  v1DeleteGallery: (request) => [`${galleries(request, "delete")};`],
  v1EnrolFace: (request) => [
    `var face = ${face(request, 0)};`,
    `var enrolled = ${galleries(
      request,
      "enrolFace",
      ["personId"],
      "face",
      options(
        text("setFaceId", request, "faceId"),
        name(request),
        isOn(request, "skipQualityCheck") && "setSkipQualityCheck(true)",
      ),
    )};`,
    "System.out.println(enrolled.getFaceId());",
  ],
  v1ListPeople: (request) => [
    `for (var person : ${galleries(request, "listPeople")}) {`,
    '  System.out.println(person.getPersonId() + " " + person.getDisplayName());',
    "}",
  ],
  v1GetPerson: (request) => [
    `var person = ${galleries(request, "getPerson", ["personId"])};`,
    'System.out.println(person.getDisplayName() + " " + person.getFacesCount());',
  ],
  v1UpdatePerson: (request) => [
    `var person = ${galleries(request, "updatePerson", ["personId", "displayName"])};`,
    "System.out.println(person.getDisplayName());",
  ],
  v1DeletePerson: (request) => [`${galleries(request, "deletePerson", ["personId"])};`],
  v1DeleteFace: (request) => [`${galleries(request, "deleteFace", ["personId", "faceId"])};`],
  v1IdentifyFaces: (request) => [
    `var face = ${face(request, 0)};`,
    `var result = ${galleries(
      request,
      "identify",
      [],
      "face",
      options(setter("setMaxResults", numberOf(request, "maxResults")), distance(request)),
    )};`,
    "for (var found : result.getFacesList()) {",
    "  System.out.println(found.getMatchesList());",
    "}",
  ],
  v1ExportGallery: (request) => [
    `try (var faces = ${galleries(request, "export")}) {`,
    '  for (var face : faces) System.out.println(face.personId() + " " + face.faceId());',
    "}",
  ],
  v1ImportFaces: (request) => [
    `try (var faces = ${galleries(request, "export")}) {`,
    `  System.out.println(${galleries(request, "importFaces", [], "faces")}.getFaceCount());`,
    "}",
  ],
};

/** A call with the gallery and other ids as its first arguments. */
function galleries(
  request: SampleRequest,
  method: string,
  ids: readonly string[] = [],
  ...args: readonly (string | undefined)[]
): string {
  const values = ["galleryId", ...ids].map((id) => quote(textOf(request, id) ?? ""));
  return call(`visage.galleries().${method}`, ...values, ...args);
}

function text(method: string, request: SampleRequest, field: string): string | undefined {
  const value = textOf(request, field);
  return setter(method, value && quote(value));
}

function name(request: SampleRequest): string | undefined {
  return text("setDisplayName", request, "displayName");
}

function distance(request: SampleRequest): string | undefined {
  return setter("setMaxDistance", float(numberOf(request, "maxDistance")));
}
