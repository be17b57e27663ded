import type { SampleDestination, SampleRequest } from "./sample-request.ts";
import {
  type Call,
  faceMembers,
  isBox,
  isOfGalleries,
  type OptionValue,
  optionsOf,
  positionalArguments,
  quote,
  quotedFiles,
  type Statements,
} from "./sdk-call.ts";

const PHOTO = { file: (path: string) => `{ path: ${path} }`, url: (url: string) => `{ url: ${url} }` };

const STATEMENTS: Statements = {
  matchFaces: (call) => [
    `const { matched, distance } = await ${call("matchFaces")};`,
    "console.log(matched, distance);",
  ],
  getImageAttr: (call) => [
    `const { faces } = await ${call("getImageAttr")};`,
    "for (const { box, age, gender } of faces) console.log(box, age, gender);",
  ],
  getFaceVec: (call) => [
    `const { model, embedding } = await ${call("getFaceVec")};`,
    "console.log(model, embedding.length);",
  ],
  v1AnalyzeImage: (call, request) => [
    `const { faces } = await ${call("analyzeImage")};`,
    `for (const { ${faceMembers(request).join(", ")} } of faces) console.log(${faceMembers(request).join(", ")});`,
  ],
  v1AnalyzeImages: (call, request) => [
    `const photos = [${quotedFiles(request)}];`,
    `const results = ${call("analyzeImages", "photos.map((path) => ({ key: path, image: { path } }))")};`,
    "for await (const { key, response, error } of results)",
    "  console.log(key, error ? error.message : response.faces.length);",
  ],
  v1CompareFaces: (call) => [
    `const { matches } = await ${call("compareFaces")};`,
    "for (const { matched, distance } of matches) console.log(matched, distance);",
  ],
  v1CreateGallery: (call) => [
    `const gallery = await ${call("create")};`,
    "console.log(gallery.galleryId, gallery.model);",
  ],
  v1ListGalleries: (call) => [
    `for await (const { galleryId, peopleCount } of ${call("list")})`,
    "  console.log(galleryId, peopleCount);",
  ],
  v1GetGallery: (call) => [
    `const gallery = await ${call("get")};`,
    "console.log(gallery.displayName, gallery.peopleCount);",
  ],
  v1UpdateGallery: (call) => [
    `const gallery = await ${call("update")};`,
    "console.log(gallery.displayName);",
  ],
  v1DeleteGallery: (call) => [`await ${call("delete")};`],
  v1EnrolFace: (call) => [`const { faceId, box } = await ${call("enrolFace")};`, "console.log(faceId, box);"],
  v1ListPeople: (call) => [
    `for await (const { personId, displayName } of ${call("listPeople")})`,
    "  console.log(personId, displayName);",
  ],
  v1GetPerson: (call) => [
    `const { displayName, faces } = await ${call("getPerson")};`,
    "console.log(displayName, faces.length);",
  ],
  v1UpdatePerson: (call) => [
    `const { displayName } = await ${call("updatePerson")};`,
    "console.log(displayName);",
  ],
  v1DeletePerson: (call) => [`await ${call("deletePerson")};`],
  v1ExportPerson: (call) => [
    `for (const { galleryId, personId, faces } of await ${call("exportPerson")})`,
    "  console.log(galleryId, personId, faces.length);",
  ],
  v1DeleteFace: (call) => [`await ${call("deleteFace")};`],
  v1IdentifyFaces: (call) => [
    `const { faces } = await ${call("identify")};`,
    "for (const { box, matches } of faces) console.log(box, matches);",
  ],
  v1ExportGallery: (call) => [
    `for await (const { personId, faceId } of ${call("exportFaces")})`,
    "  console.log(personId, faceId);",
  ],
  v1ImportFaces: (call) => [
    `const faces = ${call("exportFaces")};`,
    `const { faceCount } = await ${call("importFaces", "faces")};`,
    "console.log(faceCount);",
  ],
};

function callOf(request: SampleRequest): Call {
  const client = isOfGalleries(request) ? "visage.galleries" : "visage";
  const members = optionsOf(request).map(({ name, value }) => `${name}: ${literal(value)}`);
  const options = members.length > 0 ? [`{ ${members.join(", ")} }`] : [];
  return (method, ...args) =>
    `${client}.${method}(${[...positionalArguments(request, args, PHOTO), ...options].join(", ")})`;
}

function literal(value: OptionValue): string {
  if (isBox(value))
    return `{ ${value.map((corner, i) => `${["x1", "y1", "x2", "y2"][i]}: ${corner}`).join(", ")} }`;
  return typeof value === "object" ? `[${value.map(literal).join(", ")}]` : JSON.stringify(value);
}

/** Writes a request as a program that uses `@visage/client`. Undefined if the client lacks the operation. */
export function typescriptSample(
  request: SampleRequest,
  { address, key }: SampleDestination,
): string | undefined {
  const statements = STATEMENTS[request.operation]?.(callOf(request), request);
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
