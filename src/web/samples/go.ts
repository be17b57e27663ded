import type { OperationId, SampleBox, SampleDestination, SampleRequest } from "./sample-request.ts";
import {
  boxesOf,
  boxOf,
  featuresOf,
  filesOf,
  isOn,
  numberOf,
  present,
  quote,
  skipsDetection,
} from "./sdk-arguments.ts";

const MODULE = "github.com/visage-face/visage/sdks/go";

/** The statements of a sample, in which `client` is the client and `ctx` a context. */
type Statements = (request: SampleRequest) => readonly string[];

const CHECK = ["if err != nil {", "\tlog.Fatal(err)", "}"];

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
};

/** Writes a request as a program that uses the Go module. Undefined if the module lacks the operation. */
export function goSample(request: SampleRequest, { address, key }: SampleDestination): string | undefined {
  const statements = STATEMENTS[request.operation]?.(request);
  if (statements === undefined) return undefined;
  const code = statements.join("\n");
  const apiKey = key === undefined ? 'os.Getenv("VISAGE_KEY")' : quote(key);
  const standard = present([
    '"context"',
    '"fmt"',
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

function call(method: string, ...args: readonly (string | undefined)[]): string {
  return `client.${method}(${["ctx", ...args.map((argument) => argument ?? "nil")].join(", ")})`;
}

/** A pointer to options; undefined without members. */
function options(type: string, ...members: readonly (string | undefined | false)[]): string | undefined {
  const given = present(members);
  return given.length > 0 ? `&visage.${type}{${given.join(", ")}}` : undefined;
}

function member(name: string, value: string | number | undefined): string | undefined {
  return value === undefined ? undefined : `${name}: ${value}`;
}

function list<Item>(
  type: string,
  items: readonly Item[] | undefined,
  write: (item: Item) => string,
): string | undefined {
  return items && `[]${type}{${items.map(write).join(", ")}}`;
}

function detection(request: SampleRequest): string | false {
  return skipsDetection(request) && "SkipDetection: true";
}

/** A box of the original API, in whole pixels. In a list its type is left out. */
function pixelBox(corners: SampleBox | undefined, type: string): string | undefined {
  return (
    corners &&
    `${type}{${corners
      .map(Math.round)
      .map((value, i) => `${CORNERS[i]}: ${value}`)
      .join(", ")}}`
  );
}

/** A box of the typed API. In a list its type is left out. */
function typedBox(corners: SampleBox | undefined, type = "&visagev1.BoundingBox"): string | undefined {
  return corners && `${type}{${corners.map((value, i) => `${CORNERS[i]}: ${value}`).join(", ")}}`;
}

const CORNERS = ["X1", "Y1", "X2", "Y2"];

function analysisMembers(request: SampleRequest): (string | undefined)[] {
  return [
    member(
      "Features",
      list("visagev1.Feature", featuresOf(request), (name) => `visagev1.Feature_FEATURE_${name}`),
    ),
    member("MaxFaces", numberOf(request, "maxFaces")),
  ];
}

function face(request: SampleRequest, image: number): string {
  const members = present([
    member("Image", photos(request)[image]),
    member("Box", typedBox(boxOf(request, image))),
  ]);
  return `visage.Face{${members.join(", ")}}`;
}

function photos(request: SampleRequest): string[] {
  return filesOf(request).map((file) => `visage.File(${quote(file)})`);
}
