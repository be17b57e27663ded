import type { OperationId, SampleDestination, SampleRequest } from "./sample-request.ts";
import { boxOf, filesOf, isOn, numberOf, quote } from "./sdk-arguments.ts";
import { typescriptGalleryStatements } from "./typescript-galleries.ts";
import {
  analysisOptions,
  box,
  boxes,
  call,
  detection,
  member,
  options,
  photos,
} from "./typescript-syntax.ts";

/** The statements of a sample, in which `visage` is the client. */
type Statements = (request: SampleRequest) => readonly string[];

const STATEMENTS: Partial<Record<OperationId, Statements>> = {
  matchFaces: (request) => [
    `const { isMatch, distance } = await ${call(
      "visage.matchFaces",
      ...photos(request),
      options(
        member("box1", box(boxOf(request, 0))),
        member("box2", box(boxOf(request, 1))),
        detection(request),
      ),
    )};`,
    "console.log(isMatch, distance);",
  ],
  getImageAttr: (request) => [
    `const { faces } = await ${call("visage.getImageAttr", ...photos(request), options(boxes(request), detection(request)))};`,
    "for (const { box, age, gender } of faces) console.log(box, age, gender);",
  ],
  getFaceVec: (request) => [
    `const { model, vector } = await ${call(
      "visage.getFaceVec",
      ...photos(request),
      options(
        member("box", box(boxOf(request))),
        isOn(request, "quality") && "quality: true",
        detection(request),
      ),
    )};`,
    "console.log(model, vector.length);",
  ],
  v1AnalyzeImage: (request) => [
    `const { faces } = await ${call("visage.analyzeImage", ...photos(request), options(...analysisOptions(request), boxes(request)))};`,
    "for (const { box, pose, quality } of faces) console.log(box, pose, quality);",
  ],
  v1AnalyzeImages: (request) => [
    `const photos = [${filesOf(request).map(quote).join(", ")}];`,
    `const results = ${call(
      "visage.analyzeImages",
      "photos.map((path) => ({ key: path, image: { path } }))",
      options(...analysisOptions(request)),
    )};`,
    "for await (const { key, response, error } of results)",
    "  console.log(key, error ? error.message : response.faces.length);",
  ],
  v1CompareFaces: (request) => [
    `const { matches } = await ${call(
      "visage.compareFaces",
      ...photos(request),
      options(
        member("sourceBox", box(boxOf(request, 0))),
        member("targetBox", box(boxOf(request, 1))),
        member("maxFalseMatchRate", numberOf(request, "maxFalseMatchRate")),
      ),
    )};`,
    "for (const { isMatch, distance } of matches) console.log(isMatch, distance);",
  ],
  ...typescriptGalleryStatements,
};

/** Writes a request as a program that uses `@visage/client`. Undefined if the client lacks the operation. */
export function typescriptSample(
  request: SampleRequest,
  { address, key }: SampleDestination,
): string | undefined {
  const statements = STATEMENTS[request.operation]?.(request);
  if (statements === undefined) return undefined;
  const apiKey = key === undefined ? "process.env.VISAGE_KEY" : quote(key);
  return [
    'import { createVisageClient } from "@visage/client";',
    "",
    `const visage = createVisageClient({ address: ${quote(address)}, apiKey: ${apiKey} });`,
    ...statements,
    "visage.close();",
    "",
  ].join("\n");
}
