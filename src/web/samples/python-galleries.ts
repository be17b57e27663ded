import { box, call, named, photos } from "./python-syntax.ts";
import type { OperationId, SampleRequest } from "./sample-request.ts";
import { boxOf, isOn, numberOf, quote, textOf } from "./sdk-arguments.ts";

/** The statements of the samples of galleries, in which `client` is the client. */
export const pythonGalleryStatements: Partial<
  Record<OperationId, (request: SampleRequest) => readonly string[]>
> = {
  v1CreateGallery: (request) => [
    `gallery = ${galleries(request, "create", [], name(request), distance(request))}`,
    "print(gallery.gallery_id, gallery.model)",
  ],
  v1ListGalleries: () => [
    "for gallery in client.galleries.list():",
    "    print(gallery.gallery_id, gallery.people_count)",
  ],
  v1GetGallery: (request) => [
    `gallery = ${galleries(request, "get")}`,
    "print(gallery.display_name, gallery.people_count)",
  ],
  v1UpdateGallery: (request) => [
    `gallery = ${galleries(request, "update", [], name(request), distance(request))}`,
    "print(gallery.display_name)",
  ],
  v1DeleteGallery: (request) => [galleries(request, "delete")],
  v1EnrolFace: (request) => [
    `enrolled = ${galleries(
      request,
      "enrol_face",
      ["personId"],
      ...photos(request),
      named("box", box(boxOf(request))),
      text("face_id", request, "faceId"),
      name(request),
      isOn(request, "skipQualityCheck") && "skip_quality_check=True",
    )}`,
    "print(enrolled.face_id, enrolled.box)",
  ],
  v1ListPeople: (request) => [
    `for person in ${galleries(request, "list_people")}:`,
    "    print(person.person_id, person.display_name)",
  ],
  v1GetPerson: (request) => [
    `person = ${galleries(request, "get_person", ["personId"])}`,
    "print(person.display_name, [face.face_id for face in person.faces])",
  ],
  v1UpdatePerson: (request) => [
    `person = ${galleries(request, "update_person", ["personId"], name(request))}`,
    "print(person.display_name)",
  ],
  v1DeletePerson: (request) => [galleries(request, "delete_person", ["personId"])],
  v1DeleteFace: (request) => [galleries(request, "delete_face", ["personId", "faceId"])],
  v1IdentifyFaces: (request) => [
    `result = ${galleries(
      request,
      "identify",
      [],
      ...photos(request),
      named("box", box(boxOf(request))),
      named("max_results", numberOf(request, "maxResults")),
      distance(request),
    )}`,
    "for face in result.faces:",
    "    print(face.box, [(match.person_id, match.distance) for match in face.matches])",
  ],
  v1ExportGallery: (request) => [
    `with ${galleries(request, "export")} as faces:`,
    "    for face in faces:",
    "        print(face.person_id, face.face_id)",
  ],
  v1ImportFaces: (request) => [
    `with ${galleries(request, "export")} as faces:`,
    `    result = ${galleries(request, "import_faces", [], "faces")}`,
    "print(result.face_count)",
  ],
};

/** A call with the gallery and other ids as its first arguments. */
function galleries(
  request: SampleRequest,
  method: string,
  ids: readonly string[] = [],
  ...args: readonly (string | undefined | false)[]
): string {
  const values = ["galleryId", ...ids].map((id) => quote(textOf(request, id) ?? ""));
  return call(`client.galleries.${method}`, ...values, ...args);
}

function text(argument: string, request: SampleRequest, field: string): string | undefined {
  const value = textOf(request, field);
  return named(argument, value && quote(value));
}

function name(request: SampleRequest): string | undefined {
  return text("display_name", request, "displayName");
}

function distance(request: SampleRequest): string | undefined {
  return named("max_distance", numberOf(request, "maxDistance"));
}
