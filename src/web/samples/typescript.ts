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

function call(method: string, ...args: readonly (string | undefined)[]): string {
  return `${method}(${present(args).join(", ")})`;
}

/** An object literal; undefined without members. */
function options(...members: readonly (string | undefined | false)[]): string | undefined {
  const given = present(members);
  return given.length > 0 ? `{ ${given.join(", ")} }` : undefined;
}

function member(name: string, value: string | number | undefined): string | undefined {
  return value === undefined ? undefined : `${name}: ${value}`;
}

function detection(request: SampleRequest): string | false {
  return skipsDetection(request) && "detect: false";
}

function boxes(request: SampleRequest): string | undefined {
  const chosen = boxesOf(request)?.map(box);
  return member("boxes", chosen && `[${chosen.join(", ")}]`);
}

function box(corners: SampleBox | undefined): string | undefined {
  if (!corners) return undefined;
  const [x1, y1, x2, y2] = corners;
  return `{ x1: ${x1}, y1: ${y1}, x2: ${x2}, y2: ${y2} }`;
}

function analysisOptions(request: SampleRequest): (string | undefined)[] {
  const features = featuresOf(request)?.map((name) => quote(name.toLowerCase()));
  return [
    member("features", features && `[${features.join(", ")}]`),
    member("maxFaces", numberOf(request, "maxFaces")),
  ];
}

function photos(request: SampleRequest): string[] {
  return filesOf(request).map((file) => `{ path: ${quote(file)} }`);
}
