import type { OperationId, SampleRequest } from "./sample-request.ts";
import { boxOf, isOn, numberOf, quote, textOf } from "./sdk-arguments.ts";
import { box, call, member, options, photos } from "./typescript-syntax.ts";

/** The statements of the samples of galleries, in which `visage` is the client. */
export const typescriptGalleryStatements: Partial<
  Record<OperationId, (request: SampleRequest) => readonly string[]>
> = {
  v1CreateGallery: (request) => [
    `const gallery = await ${galleries(request, "create", [], options(name(request), distance(request)))};`,
    "console.log(gallery.galleryId, gallery.model);",
  ],
  v1ListGalleries: () => [
    "for await (const { galleryId, peopleCount } of visage.galleries.list())",
    "  console.log(galleryId, peopleCount);",
  ],
  v1GetGallery: (request) => [
    `const gallery = await ${galleries(request, "get")};`,
    "console.log(gallery.displayName, gallery.peopleCount);",
  ],
  v1UpdateGallery: (request) => [
    `const gallery = await ${galleries(request, "update", [], options(name(request), distance(request)) ?? "{}")};`,
    "console.log(gallery.displayName);",
  ],
  v1DeleteGallery: (request) => [`await ${galleries(request, "delete")};`],
  v1EnrolFace: (request) => [
    `const { faceId, box } = await ${galleries(
      request,
      "enrolFace",
      ["personId"],
      ...photos(request),
      options(
        member("box", box(boxOf(request))),
        text(request, "faceId"),
        name(request),
        isOn(request, "skipQualityCheck") && "skipQualityCheck: true",
      ),
    )};`,
    "console.log(faceId, box);",
  ],
  v1ListPeople: (request) => [
    `for await (const { personId, displayName } of ${galleries(request, "listPeople")})`,
    "  console.log(personId, displayName);",
  ],
  v1GetPerson: (request) => [
    `const { displayName, faces } = await ${galleries(request, "getPerson", ["personId"])};`,
    "console.log(displayName, faces.length);",
  ],
  v1UpdatePerson: (request) => [
    `const { displayName } = await ${galleries(request, "updatePerson", ["personId"], options(name(request)))};`,
    "console.log(displayName);",
  ],
  v1DeletePerson: (request) => [`await ${galleries(request, "deletePerson", ["personId"])};`],
  v1DeleteFace: (request) => [`await ${galleries(request, "deleteFace", ["personId", "faceId"])};`],
  v1IdentifyFaces: (request) => [
    `const { faces } = await ${galleries(
      request,
      "identify",
      [],
      ...photos(request),
      options(
        member("box", box(boxOf(request))),
        member("maxResults", numberOf(request, "maxResults")),
        distance(request),
      ),
    )};`,
    "for (const { box, matches } of faces) console.log(box, matches);",
  ],
  v1ExportGallery: (request) => [
    `for await (const { personId, faceId } of ${galleries(request, "exportFaces")})`,
    "  console.log(personId, faceId);",
  ],
  v1ImportFaces: (request) => [
    `const faces = ${galleries(request, "exportFaces")};`,
    `const { faceCount } = await ${galleries(request, "importFaces", [], "faces")};`,
    "console.log(faceCount);",
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
  return call(`visage.galleries.${method}`, ...values, ...args);
}

function text(request: SampleRequest, field: string): string | undefined {
  const value = textOf(request, field);
  return member(field, value && quote(value));
}

function name(request: SampleRequest): string | undefined {
  return text(request, "displayName");
}

function distance(request: SampleRequest): string | undefined {
  return member("maxDistance", numberOf(request, "maxDistance"));
}
