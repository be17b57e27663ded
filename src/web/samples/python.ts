import { pythonGalleryStatements } from "./python-galleries.ts";
import { analysisOptions, box, boxes, call, detection, named, photos } from "./python-syntax.ts";
import type { OperationId, SampleDestination, SampleRequest } from "./sample-request.ts";
import { boxOf, isOn, numberOf, present, quote } from "./sdk-arguments.ts";
import { indent } from "./shell.ts";

/** The statements of a sample, in which `client` is the client. */
type Statements = (request: SampleRequest) => readonly string[];

const STATEMENTS: Partial<Record<OperationId, Statements>> = {
  matchFaces: (request) => [
    `match = ${call(
      "client.match_faces",
      ...photos(request),
      named("box_1", box(boxOf(request, 0))),
      named("box_2", box(boxOf(request, 1))),
      detection(request),
    )}`,
    "print(match.is_match, match.distance)",
  ],
  getImageAttr: (request) => [
    `attributes = ${call("client.get_image_attr", ...photos(request), boxes(request), detection(request))}`,
    "for face in attributes.faces:",
    "    print(face.box, face.age, face.gender)",
  ],
  getFaceVec: (request) => [
    `template = ${call(
      "client.get_face_vec",
      ...photos(request),
      named("box", box(boxOf(request))),
      isOn(request, "quality") && "quality=True",
      detection(request),
    )}`,
    "print(template.model, len(template.vector))",
  ],
  v1AnalyzeImage: (request) => [
    `analysis = ${call("client.analyze_image", ...photos(request), ...analysisOptions(request), boxes(request))}`,
    "for face in analysis.faces:",
    "    print(face.box, face.pose, face.quality)",
  ],
  v1AnalyzeImages: (request) => [
    `photos = [${photos(request).join(", ")}]`,
    `results = ${call("client.analyze_images", "((photo.name, photo) for photo in photos)", ...analysisOptions(request))}`,
    "for result in results:",
    "    print(result.key, result.error or len(result.response.faces))",
  ],
  v1CompareFaces: (request) => [
    `comparison = ${call(
      "client.compare_faces",
      ...photos(request),
      named("source_box", box(boxOf(request, 0))),
      named("target_box", box(boxOf(request, 1))),
      named("max_false_match_rate", numberOf(request, "maxFalseMatchRate")),
    )}`,
    "for match in comparison.matches:",
    "    print(match.matched, match.distance)",
  ],
  ...pythonGalleryStatements,
};

/** Writes a request as a Python program that uses `visage-client`. Undefined if the client lacks the operation. */
export function pythonSample(
  request: SampleRequest,
  { address, key }: SampleDestination,
): string | undefined {
  const statements = STATEMENTS[request.operation]?.(request).join("\n");
  if (statements === undefined) return undefined;
  const standard = present([
    key === undefined && "import os",
    statements.includes("Path(") && "from pathlib import Path",
  ]);
  const names = present([
    statements.includes("Box(") && "Box",
    statements.includes("Url(") && "Url",
    "VisageClient",
  ]);
  const apiKey = key === undefined ? 'os.environ["VISAGE_KEY"]' : quote(key);
  return [
    ...standard,
    ...(standard.length > 0 ? [""] : []),
    `from visage import ${names.join(", ")}`,
    "",
    `with VisageClient(${quote(address)}, ${apiKey}) as client:`,
    indent(statements, 4),
    "",
  ].join("\n");
}
