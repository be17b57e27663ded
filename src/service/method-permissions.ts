// Which permissions each operation needs. An operation without a rule does not compile.
import type { DescMethod, DescService, Message, MessageShape } from "@bufbuild/protobuf";
import { FaceService } from "../../gen/ts/face/v1/face_pb.ts";
import { AccountService } from "../../gen/ts/visage/v1/account_pb.ts";
import { AdminService } from "../../gen/ts/visage/v1/admin_pb.ts";
import {
  type AnalyzeImageRequest,
  FaceAnalysisService,
  type FaceSource,
  Feature,
} from "../../gen/ts/visage/v1/face_analysis_pb.ts";
import { GalleryService } from "../../gen/ts/visage/v1/gallery_pb.ts";
import { MATCH_DISTANCE } from "../core/index.ts";
import type { Permission } from "../permissions.ts";
import type { ImageMessage } from "./image-source.ts";

/** The permissions that every request of an operation needs, and those that depend on the request. */
interface Rule<Request> {
  readonly needs: readonly Permission[];
  readonly alsoNeeds?: (request: Request) => readonly Permission[];
}

type Rules<Service extends DescService> = {
  readonly [Name in keyof Service["method"]]: Rule<MessageShape<Service["method"][Name]["input"]>>;
};

/** The permission of each optional part of an analysis. */
export const FEATURE_PERMISSIONS: Readonly<Partial<Record<Feature, Permission>>> = {
  [Feature.LANDMARKS]: "landmarks",
  [Feature.ATTRIBUTES]: "attributes",
  [Feature.EMBEDDING]: "embeddings",
};

const FACE: Rules<typeof FaceService> = {
  matchFaces: { needs: ["compare"], alsoNeeds: ({ img1, img2 }) => urlNeeds(img1, img2) },
  compareFaces: { needs: ["compare"], alsoNeeds: ({ img1, img2 }) => urlNeeds(img1, img2) },
  // Responses of face.v1 cannot leave anything out.
  getImageAttr: {
    needs: ["analyze", "attributes", "landmarks"],
    alsoNeeds: ({ imageAttr }) => urlNeeds(imageAttr),
  },
  getFaceVec: { needs: ["analyze", "embeddings"], alsoNeeds: ({ img }) => urlNeeds(img) },
};

const ANALYSIS: Rules<typeof FaceAnalysisService> = {
  analyzeImage: { needs: ["analyze"], alsoNeeds: analysisNeeds },
  analyzeImages: {
    needs: ["analyze"],
    alsoNeeds: ({ request }) => (request ? analysisNeeds(request) : []),
  },
  compareFaces: { needs: ["compare"], alsoNeeds: ({ source, target }) => sourceNeeds(source, target) },
};

const READ: Rule<unknown> = { needs: ["read"] };
const ENROL: Rule<unknown> = { needs: ["enrol"] };
const DELETE: Rule<unknown> = { needs: ["delete"] };
const EXPORT: Rule<unknown> = { needs: ["export"] };
const ENROL_GALLERY: Rule<{ readonly maxDistance?: number | undefined }> = {
  needs: ["enrol"],
  // No threshold that the service chooses is above this distance.
  alsoNeeds: ({ maxDistance = 0 }) => (maxDistance > MATCH_DISTANCE ? ["wide-distance"] : []),
};

const GALLERY: Rules<typeof GalleryService> = {
  createGallery: ENROL_GALLERY,
  getGallery: READ,
  listGalleries: READ,
  updateGallery: ENROL_GALLERY,
  deleteGallery: DELETE,
  replaceGallery: { needs: ["enrol", "delete"] },
  enrolFace: {
    needs: ["enrol"],
    // A check of the person is a search.
    alsoNeeds: ({ source, checkPerson }) =>
      checkPerson ? ["identify", ...probeNeeds(source)] : sourceNeeds(source),
  },
  getPerson: READ,
  listPeople: READ,
  updatePerson: ENROL,
  deletePerson: DELETE,
  deleteFace: DELETE,
  // `wide-distance` depends on the gallery: see identify-faces.ts.
  identifyFaces: { needs: ["identify"], alsoNeeds: ({ source }) => probeNeeds(source) },
  exportGallery: EXPORT,
  exportPerson: EXPORT,
  importFaces: ENROL,
};

const OWN_ACCOUNT: Rule<unknown> = { needs: ["account"] };
const ACCOUNT: Rules<typeof AccountService> = {
  getAccount: OWN_ACCOUNT,
  getUsage: OWN_ACCOUNT,
  createKey: OWN_ACCOUNT,
  deleteKey: OWN_ACCOUNT,
};

const RULES: ReadonlyMap<string, Readonly<Record<string, Rule<never>>>> = new Map<
  string,
  Readonly<Record<string, Rule<never>>>
>([
  [FaceService.typeName, FACE],
  [FaceAnalysisService.typeName, ANALYSIS],
  [GalleryService.typeName, GALLERY],
  [AccountService.typeName, ACCOUNT],
]);

/** Returns what every request of an operation needs. The operator needs nothing. */
export function needsOfMethod(method: DescMethod): readonly Permission[] {
  return ruleOf(method).needs;
}

/** Whether nobody may call an operation because of what is switched off. */
export function isSwitchedOff(method: DescMethod, off: readonly Permission[]): boolean {
  return needsOfMethod(method).some((permission) => off.includes(permission));
}

/** Returns what a request needs besides what its operation needs. */
export function needsOfRequest(method: DescMethod, request: Message): readonly Permission[] {
  return ruleOf(method).alsoNeeds?.(request as never) ?? [];
}

const FREE: Rule<never> = { needs: [] };

function ruleOf(method: DescMethod): Rule<never> {
  const { parent, localName } = method;
  if (parent.typeName === AdminService.typeName) return FREE;
  const rule = RULES.get(parent.typeName)?.[localName];
  if (!rule) throw new Error(`${method} has no permissions.`);
  return rule;
}

function analysisNeeds({ image, features }: AnalyzeImageRequest): readonly Permission[] {
  return [...urlNeeds(image), ...features.flatMap((feature) => FEATURE_PERMISSIONS[feature] ?? [])];
}

function probeNeeds(source: FaceSource | undefined): readonly Permission[] {
  return source?.source.case === "embedding" ? ["identify-embedding"] : sourceNeeds(source);
}

function sourceNeeds(...sources: readonly (FaceSource | undefined)[]): readonly Permission[] {
  return urlNeeds(...sources.map((from) => (from?.source.case === "image" ? from.source.value : undefined)));
}

function urlNeeds(...images: readonly (ImageMessage | undefined)[]): readonly Permission[] {
  return images.some((image) => image?.source.case === "url") ? ["urls"] : [];
}
