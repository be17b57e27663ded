import { goGalleryStatements } from "./go-galleries.ts";
import {
  analysisMembers,
  CHECK,
  call,
  detection,
  face,
  list,
  member,
  options,
  photos,
  pixelBox,
  typedBox,
} from "./go-syntax.ts";
import type { OperationId, SampleDestination, SampleRequest } from "./sample-request.ts";
import { boxesOf, boxOf, filesOf, isOn, numberOf, present, quote } from "./sdk-arguments.ts";

const MODULE = "github.com/visage-face/visage/sdks/go";

/** The statements of a sample, in which `client` is the client and `ctx` a context. */
type Statements = (request: SampleRequest) => readonly string[];

const STATEMENTS: Partial<Record<OperationId, Statements>> = {
  matchFaces: (request) => [
    `match, err := ${call(
      "MatchFaces",
      ...photos(request),
      options(
        "MatchOptions",
        member("Box1", pixelBox(boxOf(request, 0), "&visage.Box")),
        member("Box2", pixelBox(boxOf(request, 1), "&visage.Box")),
        detection(request),
      ),
    )}`,
    ...CHECK,
    "fmt.Println(match.IsMatch, match.Distance)",
  ],
  getImageAttr: (request) => [
    `attributes, err := ${call(
      "GetImageAttr",
      ...photos(request),
      options(
        "AttrOptions",
        member(
          "Boxes",
          list("visage.Box", boxesOf(request), (box) => pixelBox(box, "")!),
        ),
        detection(request),
      ),
    )}`,
    ...CHECK,
    "for _, face := range attributes.Faces {",
    "\tfmt.Println(face.Box, face.Age, face.Gender)",
    "}",
  ],
  getFaceVec: (request) => [
    `template, err := ${call(
      "GetFaceVec",
      ...photos(request),
      options(
        "VecOptions",
        member("Box", pixelBox(boxOf(request), "&visage.Box")),
        isOn(request, "quality") && "Quality: true",
        detection(request),
      ),
    )}`,
    ...CHECK,
    "fmt.Println(template.Model, len(template.Vector))",
  ],
  v1AnalyzeImage: (request) => [
    `analysis, err := ${call(
      "AnalyzeImage",
      ...photos(request),
      options(
        "AnalyzeOptions",
        ...analysisMembers(request),
        member(
          "Boxes",
          list("*visagev1.BoundingBox", boxesOf(request), (box) => typedBox(box, "")!),
        ),
      ),
    )}`,
    ...CHECK,
    "for _, face := range analysis.GetFaces() {",
    "\tfmt.Println(face.GetBox(), face.GetPose(), face.GetQuality())",
    "}",
  ],
  v1AnalyzeImages: (request) => [
    "images := func(yield func(visage.StreamImage) bool) {",
    `\tfor _, path := range []string{${filesOf(request).map(quote).join(", ")}} {`,
    "\t\tif !yield(visage.StreamImage{Key: path, Image: visage.File(path)}) {",
    "\t\t\treturn",
    "\t\t}",
    "\t}",
    "}",
    `for result, err := range ${call("AnalyzeImages", "images", options("AnalyzeOptions", ...analysisMembers(request)))} {`,
    ...CHECK.map((line) => `\t${line}`),
    "\tif result.Failure != nil {",
    "\t\tfmt.Println(result.Key, result.Failure)",
    "\t\tcontinue",
    "\t}",
    "\tfmt.Println(result.Key, len(result.Response.GetFaces()))",
    "}",
  ],
  v1CompareFaces: (request) => [
    `source := ${face(request, 0)}`,
    `target := ${face(request, 1)}`,
    `comparison, err := ${call(
      "CompareFaces",
      "source",
      "target",
      options("CompareOptions", member("MaxFalseMatchRate", numberOf(request, "maxFalseMatchRate"))),
    )}`,
    ...CHECK,
    "for _, match := range comparison.GetMatches() {",
    "\tfmt.Println(match.GetMatched(), match.GetDistance())",
    "}",
  ],
  ...goGalleryStatements,
};

/** Writes a request as a program that uses the Go module. Undefined if the module lacks the operation. */
export function goSample(request: SampleRequest, { address, key }: SampleDestination): string | undefined {
  const statements = STATEMENTS[request.operation]?.(request);
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
