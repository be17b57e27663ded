import { javaGalleryStatements } from "./java-galleries.ts";
import {
  analysisSetters,
  call,
  detection,
  face,
  float,
  options,
  photos,
  pixelBox,
  setter,
  typedBox,
} from "./java-syntax.ts";
import {
  type OperationId,
  type SampleDestination,
  type SampleRequest,
  sampleOperation,
} from "./sample-request.ts";
import { boxesOf, boxOf, filesOf, isOn, numberOf, quote } from "./sdk-arguments.ts";
import { indent } from "./shell.ts";

/** The statements of a sample, in which `visage` is the client. */
type Statements = (request: SampleRequest) => readonly string[];

const STATEMENTS: Partial<Record<OperationId, Statements>> = {
  matchFaces: (request) => [
    `var match = ${call(
      "visage.matchFaces",
      ...photos(request),
      options(
        setter("setBboxes1", pixelBox(boxOf(request, 0))),
        setter("setBboxes2", pixelBox(boxOf(request, 1))),
        detection(request),
      ),
    )};`,
    'System.out.println(match.isMatch() + " " + match.distance());',
  ],
  getImageAttr: (request) => [
    `var attributes = ${call(
      "visage.getImageAttr",
      ...photos(request),
      options(
        ...(boxesOf(request) ?? []).map((box) => setter("addBboxes", pixelBox(box))),
        detection(request),
      ),
    )};`,
    "for (var face : attributes.faces()) {",
    '  System.out.println(face.age() + " " + face.gender());',
    "}",
  ],
  getFaceVec: (request) => [
    `var template = ${call(
      "visage.getFaceVec",
      ...photos(request),
      options(
        setter("setBboxes", pixelBox(boxOf(request))),
        isOn(request, "quality") && "setQuality(true)",
        detection(request),
      ),
    )};`,
    'System.out.println(template.model() + " " + template.vector().length);',
  ],
  v1AnalyzeImage: (request) => [
    `var analysis = ${call(
      "visage.analyzeImage",
      ...photos(request),
      options(
        ...analysisSetters(request),
        ...(boxesOf(request) ?? []).map((box) => setter("addBoxes", typedBox(box))),
      ),
    )};`,
    "for (var face : analysis.getFacesList()) {",
    "  System.out.println(face.getBox());",
    "}",
  ],
  v1AnalyzeImages: (request) => [
    `var images = Stream.of(${filesOf(request).map(quote).join(", ")})`,
    "    .map(name -> new StreamImage<>(name, ImageInput.ofFile(Path.of(name))))",
    "    .toList();",
    `try (var results = ${call("visage.analyzeImages", "images", options(...analysisSetters(request)))}) {`,
    "  for (var result : results) {",
    '    result.response().ifPresent(response -> System.out.println(result.key() + " " + response.getFacesCount()));',
    '    result.error().ifPresent(error -> System.out.println(result.key() + " " + error.reason()));',
    "  }",
    "}",
  ],
  v1CompareFaces: (request) => [
    `var source = ${face(request, 0)};`,
    `var target = ${face(request, 1)};`,
    `var comparison = ${call(
      "visage.compareFaces",
      "source",
      "target",
      options(setter("setMaxFalseMatchRate", float(numberOf(request, "maxFalseMatchRate")))),
    )};`,
    "for (var match : comparison.getMatchesList()) {",
    '  System.out.println(match.getMatched() + " " + match.getDistance());',
    "}",
  ],
  ...javaGalleryStatements,
};

/** Imports by the text in the code that needs them. */
const IMPORTS: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/\bFeature\./, "dev.visage.v1.Feature"],
  [/\bURI\./, "java.net.URI"],
  [/\bPath\./, "java.nio.file.Path"],
  [/\bStream\./, "java.util.stream.Stream"],
  [/\bFaceInput\./, "visage.FaceInput"],
  [/\bImageInput\./, "visage.ImageInput"],
  [/\bStreamImage</, "visage.StreamImage"],
  [/\bVisageClient\./, "visage.VisageClient"],
];

/** The class of a sample. */
export function javaClassName({ operation }: SampleRequest): string {
  return `${sampleOperation(operation).rpc.split("/")[1]}Sample`;
}

/** Writes a request as a program that uses the Java client. Undefined if the client lacks the operation. */
export function javaSample(request: SampleRequest, { address, key }: SampleDestination): string | undefined {
  const statements = STATEMENTS[request.operation]?.(request);
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
  const box = request.operation.startsWith("v1") ? "dev.visage.v1.BoundingBox" : "visage.face.v1.BoundingBox";
  const imports = [[/\bBoundingBox\./, box] as const, ...IMPORTS]
    .flatMap(([pattern, name]) => (pattern.test(code) ? [`import ${name};`] : []))
    .sort();
  return [...imports, "", code].join("\n");
}
