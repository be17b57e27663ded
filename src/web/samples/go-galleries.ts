import { CHECK, call, face, member, options } from "./go-syntax.ts";
import type { OperationId, SampleRequest } from "./sample-request.ts";
import { isOn, numberOf, quote, textOf } from "./sdk-arguments.ts";

/** The statements of the samples of galleries, in which `client` is the client and `ctx` a context. */
export const goGalleryStatements: Partial<
  Record<OperationId, (request: SampleRequest) => readonly string[]>
> = {
  v1CreateGallery: (request) => [
    `gallery, err := ${galleries(request, "Create", [], options("CreateGalleryOptions", name(request), distance(request)) ?? "nil")}`,
    ...CHECK,
    "fmt.Println(gallery.GetGalleryId(), gallery.GetModel())",
  ],
  v1ListGalleries: () => [
    ...loop("gallery", "client.Galleries().List(ctx)", "gallery.GetGalleryId(), gallery.GetPeopleCount()"),
  ],
  v1GetGallery: (request) => [
    `gallery, err := ${galleries(request, "Get")}`,
    ...CHECK,
    "fmt.Println(gallery.GetDisplayName(), gallery.GetPeopleCount())",
  ],
  v1UpdateGallery: (request) => [
    ...change("name", textOf(request, "displayName"), quote),
    ...change("distance", numberOf(request, "maxDistance"), (value) => `float32(${value})`),
    `gallery, err := ${galleries(
      request,
      "Update",
      [],
      options(
        "UpdateGalleryOptions",
        textOf(request, "displayName") !== undefined && "DisplayName: &name",
        numberOf(request, "maxDistance") !== undefined && "MaxDistance: &distance",
      )?.slice(1) ?? "visage.UpdateGalleryOptions{}",
    )}`,
    ...CHECK,
    "fmt.Println(gallery.GetDisplayName())",
  ],
  v1DeleteGallery: (request) => deletion(galleries(request, "Delete")),
  v1EnrolFace: (request) => [
    `face := ${face(request, 0)}`,
    `enrolled, err := ${galleries(
      request,
      "EnrolFace",
      ["personId"],
      "face",
      options(
        "EnrolOptions",
        text("FaceID", request, "faceId"),
        name(request),
        isOn(request, "skipQualityCheck") && "SkipQualityCheck: true",
      ) ?? "nil",
    )}`,
    ...CHECK,
    "fmt.Println(enrolled.GetFaceId(), enrolled.GetBox())",
  ],
  v1ListPeople: (request) => [
    ...loop("person", galleries(request, "ListPeople"), "person.GetPersonId(), person.GetDisplayName()"),
  ],
  v1GetPerson: (request) => [
    `person, err := ${galleries(request, "GetPerson", ["personId"])}`,
    ...CHECK,
    "fmt.Println(person.GetDisplayName(), len(person.GetFaces()))",
  ],
  v1UpdatePerson: (request) => [
    `person, err := ${galleries(request, "UpdatePerson", ["personId", "displayName"])}`,
    ...CHECK,
    "fmt.Println(person.GetDisplayName())",
  ],
  v1DeletePerson: (request) => deletion(galleries(request, "DeletePerson", ["personId"])),
  v1DeleteFace: (request) => deletion(galleries(request, "DeleteFace", ["personId", "faceId"])),
  v1IdentifyFaces: (request) => [
    `face := ${face(request, 0)}`,
    `result, err := ${galleries(
      request,
      "Identify",
      [],
      "face",
      options("IdentifyOptions", member("MaxResults", numberOf(request, "maxResults")), distance(request)) ??
        "nil",
    )}`,
    ...CHECK,
    "for _, face := range result.GetFaces() {",
    "\tfmt.Println(face.GetBox(), face.GetMatches())",
    "}",
  ],
  v1ExportGallery: (request) => [...loop("face", galleries(request, "Export"), "face.PersonID, face.FaceID")],
  v1ImportFaces: (request) => [
    `faces := ${galleries(request, "Export")}`,
    `result, err := ${galleries(request, "ImportFaces", [], "faces")}`,
    ...CHECK,
    "fmt.Println(result.GetFaceCount())",
  ],
};

/** A call with the gallery and other ids as its first arguments. */
function galleries(
  request: SampleRequest,
  method: string,
  ids: readonly string[] = [],
  ...args: readonly string[]
): string {
  const values = ["galleryId", ...ids].map((id) => quote(textOf(request, id) ?? ""));
  return call(`Galleries().${method}`, ...values, ...args);
}

function loop(item: string, sequence: string, printed: string): string[] {
  return [
    `for ${item}, err := range ${sequence} {`,
    ...CHECK.map((line) => `\t${line}`),
    `\tfmt.Println(${printed})`,
    "}",
  ];
}

function deletion(call: string): string[] {
  return [`if err := ${call}; err != nil {`, "\tlog.Fatal(err)", "}"];
}

/** A variable for a field that is a pointer. */
function change<Value>(name: string, value: Value | undefined, write: (value: Value) => string): string[] {
  return value === undefined ? [] : [`${name} := ${write(value)}`];
}

function text(field: string, request: SampleRequest, source: string): string | undefined {
  const value = textOf(request, source);
  return member(field, value && quote(value));
}

function name(request: SampleRequest): string | undefined {
  return text("DisplayName", request, "displayName");
}

function distance(request: SampleRequest): string | undefined {
  return member("MaxDistance", numberOf(request, "maxDistance"));
}
