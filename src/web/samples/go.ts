import type { OperationId, SampleDestination, SampleRequest } from "./sample-request.ts";
import {
  type Call,
  faceFields,
  isBox,
  isOfGalleries,
  type OptionValue,
  optionsOf,
  photoOf,
  positionalArguments,
  present,
  quote,
  quotedFiles,
  type SdkOption,
  type Statements,
} from "./sdk-call.ts";

const MODULE = "github.com/visage-face/visage/sdks/go";
const PHOTO = { file: (path: string) => `visage.File(${path})`, url: (url: string) => `visage.URL(${url})` };

/** Ends the program if there is an error. */
const CHECK = ["if err != nil {", "\tlog.Fatal(err)", "}"];

/** The statements of a sample, in which `client` is the client and `ctx` a context. */
const STATEMENTS: Statements = {
  matchFaces: (call) => assign("match", call("MatchFaces"), "match.Matched, match.Distance"),
  getImageAttr: (call) => [
    ...assign("attributes", call("GetImageAttr")),
    "for _, face := range attributes.Faces {",
    "\tfmt.Println(face.Box, face.Age, face.Gender)",
    "}",
  ],
  getFaceVec: (call) => assign("template", call("GetFaceVec"), "template.Model, len(template.Embedding)"),
  v1AnalyzeImage: (call, request) => [
    ...assign("analysis", call("AnalyzeImage")),
    "for _, face := range analysis.GetFaces() {",
    `\tfmt.Println(${faceFields(request).map(getter).join(", ")})`,
    "}",
  ],
  v1AnalyzeImages: (call, request) => [
    "images := func(yield func(visage.StreamImage) bool) {",
    `\tfor _, path := range []string{${quotedFiles(request)}} {`,
    "\t\tif !yield(visage.StreamImage{Key: path, Image: visage.File(path)}) {",
    "\t\t\treturn",
    "\t\t}",
    "\t}",
    "}",
    ...loop("result", call("AnalyzeImages", "images"), [
      "if result.Failure != nil {",
      "\tfmt.Println(result.Key, result.Failure)",
      "\tcontinue",
      "}",
      "fmt.Println(result.Key, len(result.Response.GetFaces()))",
    ]),
  ],
  v1CompareFaces: (call, request) => [
    `source := ${face(request, 0)}`,
    `target := ${face(request, 1)}`,
    ...assign("comparison", call("CompareFaces", "source", "target")),
    "for _, match := range comparison.GetMatches() {",
    "\tfmt.Println(match.GetMatched(), match.GetDistance())",
    "}",
  ],
  v1CreateGallery: (call) => assign("gallery", call("Create"), "gallery.GetGalleryId(), gallery.GetModel()"),
  v1ListGalleries: (call) =>
    loop("gallery", call("List"), ["fmt.Println(gallery.GetGalleryId(), gallery.GetPeopleCount())"]),
  v1GetGallery: (call) =>
    assign("gallery", call("Get"), "gallery.GetDisplayName(), gallery.GetPeopleCount()"),
  // What is changed is a pointer, which needs a variable.
  v1UpdateGallery: (call, { fields: { displayName, maxDistance } = {} }) => [
    ...(displayName === undefined ? [] : [`name := ${literal(displayName)}`]),
    ...(maxDistance === undefined ? [] : [`distance := float32(${maxDistance})`]),
    ...assign(
      "gallery",
      call(
        "Update",
        `visage.UpdateGalleryOptions{${present([
          displayName !== undefined && "DisplayName: &name",
          maxDistance !== undefined && "MaxDistance: &distance",
        ]).join(", ")}}`,
      ),
      "gallery.GetDisplayName()",
    ),
  ],
  v1DeleteGallery: (call) => attempt(call("Delete")),
  v1EnrolFace: (call, request) => [
    `face := ${face(request, 0)}`,
    ...assign("enrolled", call("EnrolFace", "face"), "enrolled.GetFaceId(), enrolled.GetBox()"),
  ],
  v1ListPeople: (call) =>
    loop("person", call("ListPeople"), ["fmt.Println(person.GetPersonId(), person.GetDisplayName())"]),
  v1GetPerson: (call) =>
    assign("person", call("GetPerson"), "person.GetDisplayName(), len(person.GetFaces())"),
  v1UpdatePerson: (call, { fields }) =>
    assign("person", call("UpdatePerson", literal(fields?.displayName ?? "")), "person.GetDisplayName()"),
  v1DeletePerson: (call) => assign("receipt", call("DeletePerson"), "receipt.GetRequestId()"),
  v1ExportPerson: (call) => [
    ...assign("people", call("ExportPerson")),
    "for _, person := range people {",
    "\tfmt.Println(person.GetGalleryId(), person.GetPersonId(), len(person.GetFaces()))",
    "}",
  ],
  v1DeleteFace: (call) => attempt(call("DeleteFace")),
  v1IdentifyFaces: (call, request) => [
    `face := ${face(request, 0)}`,
    ...assign("result", call("Identify", "face")),
    "for _, face := range result.GetFaces() {",
    "\tfmt.Println(face.GetBox(), face.GetMatches())",
    "}",
  ],
  v1ExportGallery: (call) => loop("face", call("Export"), ["fmt.Println(face.PersonID, face.FaceID)"]),
  v1ImportFaces: (call) => [
    `faces := ${call("Export")}`,
    ...assign("result", call("ImportFaces", "faces"), "result.GetFaceCount()"),
  ],
};

/** Reads a field of a face. */
function getter(field: string): string {
  return `face.Get${field.charAt(0).toUpperCase()}${field.slice(1)}()`;
}

function assign(name: string, value: string, printed?: string): string[] {
  return [`${name}, err := ${value}`, ...CHECK, ...(printed ? [`fmt.Println(${printed})`] : [])];
}

function attempt(call: string): string[] {
  return [`if err := ${call}; err != nil {`, "\tlog.Fatal(err)", "}"];
}

function loop(item: string, sequence: string, body: readonly string[]): string[] {
  return [`for ${item}, err := range ${sequence} {`, ...[...CHECK, ...body].map((line) => `\t${line}`), "}"];
}

/** The structs of the methods that take a pointer to options. */
const OPTION_TYPES: Partial<Record<OperationId, string>> = {
  matchFaces: "MatchOptions",
  getImageAttr: "AttrOptions",
  getFaceVec: "VecOptions",
  v1AnalyzeImage: "AnalyzeOptions",
  v1AnalyzeImages: "AnalyzeOptions",
  v1CompareFaces: "CompareOptions",
  v1CreateGallery: "CreateGalleryOptions",
  v1EnrolFace: "EnrolOptions",
  v1IdentifyFaces: "IdentifyOptions",
};

function callOf(request: SampleRequest): Call {
  const client = isOfGalleries(request) ? "client.Galleries()" : "client";
  const type = OPTION_TYPES[request.operation];
  const members = optionsOf(request).flatMap((option) => member(option, request.operation) ?? []);
  const options = members.length > 0 ? `&visage.${type}{${members.join(", ")}}` : "nil";
  return (method, ...args) => {
    const all = ["ctx", ...positionalArguments(request, args, PHOTO), ...(type ? [options] : [])];
    return `${client}.${method}(${all.join(", ")})`;
  };
}

/** Writes a member of the options. The box of a typed operation belongs to its face. */
function member({ name, value }: SdkOption, operation: OperationId): string | undefined {
  const isTyped = operation.startsWith("v1");
  if (name === "detect") return "SkipDetection: true";
  if (name === "faceId") return `FaceID: ${literal(value)}`;
  const field = name.charAt(0).toUpperCase() + name.slice(1);
  if (isBox(value)) return isTyped ? undefined : `${field}: &visage.Box${corners(value.map(Math.round))}`;
  if (typeof value !== "object") return `${field}: ${literal(value)}`;
  if (name === "features")
    return `Features: []visagev1.Feature{${value.map((feature) => `visagev1.Feature_FEATURE_${String(feature).toUpperCase()}`).join(", ")}}`;
  const boxes = value.filter(isBox).map((box) => corners(isTyped ? box : box.map(Math.round)));
  return `Boxes: []${isTyped ? "*visagev1.BoundingBox" : "visage.Box"}{${boxes.join(", ")}}`;
}

function corners(box: readonly number[]): string {
  return `{${box.map((value, i) => `${["X1", "Y1", "X2", "Y2"][i]}: ${value}`).join(", ")}}`;
}

function literal(value: OptionValue): string {
  return JSON.stringify(value);
}

/** Writes the face in an image of the request. */
function face({ images = [] }: SampleRequest, index: number): string {
  const image = images[index]!;
  const [box] = image.boxes ?? [];
  const photo = photoOf(image, PHOTO);
  return `visage.Face{Image: ${photo}${box ? `, Box: &visagev1.BoundingBox${corners(box)}` : ""}}`;
}

/** Writes a request as a program that uses the Go module. Undefined if the module lacks the operation. */
export function goSample(request: SampleRequest, { address, key }: SampleDestination): string | undefined {
  const statements = STATEMENTS[request.operation]?.(callOf(request), request);
  if (statements === undefined) return undefined;
  const code = statements.join("\n");
  const apiKey = key === undefined ? 'os.Getenv("VISAGE_KEY")' : quote(key);
  const standard = present([
    '"context"',
    code.includes("fmt.") && '"fmt"',
    '"log"',
    (key === undefined || code.includes("os.")) && '"os"',
  ]);
  const own = present([`visage "${MODULE}"`, code.includes("visagev1.") && `visagev1 "${MODULE}/visage/v1"`]);
  const main = [
    "ctx := context.Background()",
    `client, err := visage.NewClient(${quote(address)}, visage.Options{APIKey: ${apiKey}})`,
    ...CHECK,
    "defer client.Close()",
    "",
    ...statements,
  ];
  return [
    "package main",
    "",
    "import (",
    ...standard.map((name) => `\t${name}`),
    "",
    ...own.map((name) => `\t${name}`),
    ")",
    "",
    "func main() {",
    ...main.map((line) => line && `\t${line}`),
    "}",
    "",
  ].join("\n");
}
