import { type SampleDestination, type SampleRequest, sampleOperation } from "./sample-request.ts";
import {
  type Call,
  faceFields,
  isBox,
  isOfGalleries,
  optionsOf,
  photoOf,
  positionalArguments,
  quote,
  quotedFiles,
  type SdkOption,
  type Statements,
} from "./sdk-call.ts";
import { indent } from "./shell.ts";

const PHOTO = {
  file: (path: string) => `ImageInput.ofFile(Path.of(${path}))`,
  url: (url: string) => `ImageInput.ofUrl(URI.create(${url}))`,
};

const STATEMENTS: Statements = {
  matchFaces: (call) => [
    `var match = ${call("matchFaces")};`,
    'System.out.println(match.matched() + " " + match.distance());',
  ],
  getImageAttr: (call) => [
    `var attributes = ${call("getImageAttr")};`,
    "for (var face : attributes.faces()) {",
    '  System.out.println(face.age() + " " + face.gender());',
    "}",
  ],
  getFaceVec: (call) => [
    `var template = ${call("getFaceVec")};`,
    'System.out.println(template.model() + " " + template.embedding().length);',
  ],
  v1AnalyzeImage: (call, request) => [
    `var analysis = ${call("analyzeImage")};`,
    "for (var face : analysis.getFacesList()) {",
    `  System.out.println(${faceFields(request).map(getter).join(' + " " + ')});`,
    "}",
  ],
  v1AnalyzeImages: (call, request) => [
    `var images = Stream.of(${quotedFiles(request)})`,
    "    .map(name -> new StreamImage<>(name, ImageInput.ofFile(Path.of(name))))",
    "    .toList();",
    `try (var results = ${call("analyzeImages", "images")}) {`,
    "  for (var result : results) {",
    '    result.response().ifPresent(response -> System.out.println(result.key() + " " + response.getFacesCount()));',
    '    result.error().ifPresent(error -> System.out.println(result.key() + " " + error.reason()));',
    "  }",
    "}",
  ],
  v1CompareFaces: (call, request) => [
    `var source = ${face(request, 0)};`,
    `var target = ${face(request, 1)};`,
    `var comparison = ${call("compareFaces", "source", "target")};`,
    "for (var match : comparison.getMatchesList()) {",
    '  System.out.println(match.getMatched() + " " + match.getDistance());',
    "}",
  ],
  v1CreateGallery: (call) => [
    `var gallery = ${call("create")};`,
    'System.out.println(gallery.getGalleryId() + " " + gallery.getModel());',
  ],
  v1ListGalleries: (call) => [
    `for (var gallery : ${call("list")}) {`,
    '  System.out.println(gallery.getGalleryId() + " " + gallery.getPeopleCount());',
    "}",
  ],
  v1GetGallery: (call) => [
    `var gallery = ${call("get")};`,
    'System.out.println(gallery.getDisplayName() + " " + gallery.getPeopleCount());',
  ],
  v1UpdateGallery: (call) => [
    `var gallery = ${call("update")};`,
    "System.out.println(gallery.getDisplayName());",
  ],
  v1DeleteGallery: (call) => [`${call("delete")};`],
  v1EnrolFace: (call, request) => [
    `var face = ${face(request, 0)};`,
    `var enrolled = ${call("enrolFace", "face")};`,
    "System.out.println(enrolled.getFaceId());",
  ],
  v1ListPeople: (call) => [
    `for (var person : ${call("listPeople")}) {`,
    '  System.out.println(person.getPersonId() + " " + person.getDisplayName());',
    "}",
  ],
  v1GetPerson: (call) => [
    `var person = ${call("getPerson")};`,
    'System.out.println(person.getDisplayName() + " " + person.getFacesCount());',
  ],
  v1UpdatePerson: (call) => [
    `var person = ${call("updatePerson")};`,
    "System.out.println(person.getDisplayName());",
  ],
  v1DeletePerson: (call) => [`${call("deletePerson")};`],
  v1ExportPerson: (call) => [
    `for (var person : ${call("exportPerson")}) {`,
    '  System.out.println(person.getGalleryId() + " " + person.getPersonId() + " " + person.getFacesCount());',
    "}",
  ],
  v1DeleteFace: (call) => [`${call("deleteFace")};`],
  v1IdentifyFaces: (call, request) => [
    `var face = ${face(request, 0)};`,
    `var result = ${call("identify", "face")};`,
    "for (var found : result.getFacesList()) {",
    "  System.out.println(found.getMatchesList());",
    "}",
  ],
  v1ExportGallery: (call) => [
    `try (var faces = ${call("export")}) {`,
    '  for (var face : faces) System.out.println(face.personId() + " " + face.faceId());',
    "}",
  ],
  v1ImportFaces: (call) => [
    `try (var faces = ${call("export")}) {`,
    `  System.out.println(${call("importFaces", "faces")}.getFaceCount());`,
    "}",
  ],
};

/** Reads a field of a face. */
function getter(field: string): string {
  return `face.get${field.charAt(0).toUpperCase()}${field.slice(1)}()`;
}

function callOf(request: SampleRequest): Call {
  const client = isOfGalleries(request) ? "visage.galleries()" : "visage";
  const options = optionsArgument(request);
  return (method, ...args) =>
    `${client}.${method}(${[...positionalArguments(request, args, PHOTO), ...options].join(", ")})`;
}

/** A function that sets the options, if there are any. */
function optionsArgument(request: SampleRequest): string[] {
  const options = optionsOf(request);
  // The only option that the client takes as an argument of its own.
  if (request.operation === "v1UpdatePerson") return options.map(({ value }) => JSON.stringify(value));
  const setters = options.flatMap((option) => settersOf(option, request));
  return setters.length > 0 ? [`request -> request.${setters.join(".")}`] : [];
}

const FLOATS = ["maxDistance", "maxFalseMatchRate"];

/** Writes the setters of an option. The box of an operation with faces belongs to its face. */
function settersOf({ name, value }: SdkOption, { operation }: SampleRequest): string[] {
  const isTyped = operation.startsWith("v1");
  if (name === "detect") return ["setFaceDet(false)"];
  if (isBox(value))
    return isTyped ? [] : [`set${name.replace("box", "Bboxes")}(${boxBuilder(value, isTyped)})`];
  if (typeof value === "object")
    return value.map((item) =>
      isBox(item)
        ? `add${isTyped ? "Boxes" : "Bboxes"}(${boxBuilder(item, isTyped)})`
        : `addFeatures(Feature.FEATURE_${String(item).toUpperCase()})`,
    );
  const suffix = FLOATS.includes(name) ? "f" : "";
  return [`set${name.charAt(0).toUpperCase() + name.slice(1)}(${JSON.stringify(value)}${suffix})`];
}

function boxBuilder(corners: readonly number[], isTyped: boolean): string {
  const [x1, y1, x2, y2] = corners.map((value) => (isTyped ? `${value}f` : Math.round(value)));
  return `BoundingBox.newBuilder().setX1(${x1}).setY1(${y1}).setX2(${x2}).setY2(${y2})`;
}

/** Writes the face in an image of the request. */
function face({ images = [] }: SampleRequest, index: number): string {
  const image = images[index]!;
  const [box] = image.boxes ?? [];
  const photo = photoOf(image, PHOTO);
  return `FaceInput.of(${photo}${box ? `, ${boxBuilder(box, true)}.build()` : ""})`;
}

/** Imports by the text in the code that needs them. */
const IMPORTS: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/\bFeature\./, "dev.visage.v1.Feature"],
  [/\bFaceInput\./, "dev.visage.FaceInput"],
  [/\bImageInput\./, "dev.visage.ImageInput"],
  [/\bStreamImage</, "dev.visage.StreamImage"],
  [/\bVisageClient\./, "dev.visage.VisageClient"],
  [/\bURI\./, "java.net.URI"],
  [/\bPath\./, "java.nio.file.Path"],
  [/\bStream\./, "java.util.stream.Stream"],
];

/** The class of a sample. */
export function javaClassName({ operation }: SampleRequest): string {
  return `${sampleOperation(operation).rpc.split("/")[1]}Sample`;
}

/** Writes a request as a program that uses the Java client. Undefined if the client lacks the operation. */
export function javaSample(request: SampleRequest, { address, key }: SampleDestination): string | undefined {
  const statements = STATEMENTS[request.operation]?.(callOf(request), request);
  if (statements === undefined) return undefined;
  const apiKey = key === undefined ? 'System.getenv("VISAGE_KEY")' : quote(key);
  const code = [
    `public final class ${javaClassName(request)} {`,
    "  public static void main(String[] args) {",
    `    try (var visage = VisageClient.builder(${quote(address)}).apiKey(${apiKey}).build()) {`,
    indent(statements.join("\n"), 6),
    "    }",
    "  }",
    "}",
    "",
  ].join("\n");
  const box = `dev.visage.${request.operation.startsWith("v1") ? "v1" : "face.v1"}.BoundingBox`;
  const imports = [[/\bBoundingBox\./, box] as const, ...IMPORTS]
    .flatMap(([pattern, name]) => (pattern.test(code) ? [`import ${name};`] : []))
    .sort();
  return [...imports, "", code].join("\n");
}
