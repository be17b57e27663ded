import { ATTRIBUTE_NAMES } from "../photos/attributes.ts";
import {
  type OperationId,
  type SampleBox,
  type SampleImage,
  type SampleRequest,
  type SampleValue,
  sampleOperation,
  textField,
} from "./sample-request.ts";

/** The value of an option. */
export type OptionValue = SampleValue | SampleBox | readonly SampleBox[];

/** An option of a call, which a language writes as a named argument, a member or a setter. */
export interface SdkOption {
  readonly name: string;
  readonly value: OptionValue;
}

/** Writes a call of a client with the ids, photos and options of the request. Arguments replace the photos. */
export type Call = (method: string, ...args: readonly string[]) => string;

/** The statements of the samples of a language. A client that lacks an operation has none for it. */
export type Statements = Partial<
  Record<OperationId, (call: Call, request: SampleRequest) => readonly string[]>
>;

/** What the clients take beside ids and photos. */
const OPTIONS: Partial<Record<OperationId, readonly string[]>> = {
  matchFaces: ["box1", "box2", "detect"],
  getImageAttr: ["boxes", "detect"],
  getFaceVec: ["box", "quality", "detect"],
  v1AnalyzeImage: ["features", "maxFaces", "boxes"],
  v1AnalyzeImages: ["features", "maxFaces"],
  v1CompareFaces: ["sourceBox", "targetBox", "maxFalseMatchRate"],
  v1CreateGallery: ["displayName", "maxDistance"],
  v1UpdateGallery: ["displayName", "maxDistance"],
  v1EnrolFace: ["box", "faceId", "displayName", "skipQualityCheck"],
  v1UpdatePerson: ["displayName"],
  v1IdentifyFaces: ["box", "maxResults", "maxDistance"],
};

/** The options that a request sets. A switch that is off is none. Features are written as `embedding`. */
export function optionsOf(request: SampleRequest): SdkOption[] {
  return (OPTIONS[request.operation] ?? []).flatMap((name) => {
    const value = optionValue(request, name);
    return value === undefined ? [] : [{ name, value }];
  });
}

function optionValue({ images, fields = {} }: SampleRequest, name: string): OptionValue | undefined {
  const boxesOf = (image: number) => images?.[image]?.boxes ?? [];
  if (/^(box1?|sourceBox)$/.test(name)) return boxesOf(0)[0];
  if (/^(box2|targetBox)$/.test(name)) return boxesOf(1)[0];
  if (name === "boxes") return boxesOf(0).length > 0 ? boxesOf(0) : undefined;
  if (name === "detect") return fields.face_det === false ? false : undefined;
  const value = fields[name];
  if (name === "features" && Array.isArray(value))
    return value.map((feature: string) => feature.replace("FEATURE_", "").toLowerCase());
  return value === false ? undefined : value;
}

/** What an analysis returns of a face for each feature, by the names of the messages. */
const FEATURE_FIELDS: Readonly<Record<string, readonly string[]>> = {
  FEATURE_LANDMARKS: ["pose"],
  FEATURE_ATTRIBUTES: ATTRIBUTE_NAMES,
  FEATURE_EMBEDDING: ["embedding"],
  FEATURE_QUALITY: ["quality"],
};
const DEFAULT_FEATURES = ["FEATURE_LANDMARKS", "FEATURE_ATTRIBUTES", "FEATURE_QUALITY"];

/** The fields of each face that a sample prints. */
export function faceFields({ fields: { features = DEFAULT_FEATURES } = {} }: SampleRequest): string[] {
  const requested = Array.isArray(features) ? features : [];
  return ["box", ...requested.flatMap((feature: string) => FEATURE_FIELDS[feature] ?? [])];
}

/** The names of the clients whose results have types of their own. */
export function faceMembers(request: SampleRequest): string[] {
  return faceFields(request).map((field) => (field === "embedding" ? "template" : field));
}

/** Whether a value is the corners of a box. */
export function isBox(value: OptionValue): value is SampleBox {
  return Array.isArray(value) && typeof value[0] === "number";
}

/** Whether the client has the operation among those of galleries. */
export function isOfGalleries({ operation }: SampleRequest): boolean {
  return sampleOperation(operation).rpc.includes("GalleryService");
}

/** Writes a photo from a quoted path or a quoted URL. */
export interface PhotoWriter {
  readonly file: (path: string) => string;
  readonly url: (url: string) => string;
}

/** Writes a photo of a request. */
export function photoOf({ file, url }: SampleImage, write: PhotoWriter): string {
  return url === undefined ? write.file(quote(file)) : write.url(quote(url));
}

/** The ids of a request, then the arguments, or its photos if there are none. */
export function positionalArguments(
  { operation, images = [], fields = {} }: SampleRequest,
  args: readonly string[],
  write: PhotoWriter,
): string[] {
  const inPath = [...sampleOperation(operation).path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
  const names = operation === "v1CreateGallery" ? ["galleryId"] : inPath;
  const ids = names.map((name) => quote(textField({ operation, fields }, name)));
  return [...ids, ...(args.length > 0 ? args : images.map((image) => photoOf(image, write)))];
}

/** The quoted paths of the photos. */
export function quotedFiles({ images = [] }: SampleRequest): string {
  return images.map(({ file }) => quote(file)).join(", ");
}

/** Quotes a text for Python, TypeScript, Go or Java: the strings of JSON mean the same in all of them. */
export function quote(text: string): string {
  return JSON.stringify(text);
}

/** Keeps what is defined. */
export function present<Item>(items: readonly (Item | undefined | false)[]): Item[] {
  return items.filter((item): item is Item => item !== undefined && item !== false);
}
