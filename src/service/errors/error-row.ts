import type { Code } from "@connectrpc/connect";
import type { GalleryService } from "../../../gen/ts/visage/v1/gallery_pb.ts";

/** Everything that the service, its documents and its pages say about one kind of error. */
export interface ErrorRow {
  /** The envelope's `code`. It never changes. */
  readonly code: string;
  readonly grpc: Code;
  readonly http: number;
  /**
   * The default message: one sentence for the user. It has no comma, colon or semicolon, because grpc-js shows
   * those as percent codes.
   */
  readonly text: string;
  /** Whether sending the same request again can help. */
  readonly retryable: boolean;
  /** The stage of the request that failed: `stage` in the metadata of `google.rpc.ErrorInfo`. */
  readonly stage: string;
  /** The quota that is exceeded: the subject of `google.rpc.QuotaFailure`. */
  readonly quota?: string;
  /** The nearest text of the original service's first generation. */
  readonly firstGenerationText: string;
  /** The operations that can end with the error; none if the request reaches no operation. */
  readonly operations: readonly Operation[];
  /** Why a request ends with the error, and what its sender can do: Markdown for the API reference. */
  readonly cause: string;
  readonly remedy: string;
  /** What the web pages say: the playground, the galleries, and those of accounts. */
  readonly playground?: PageText;
  readonly galleries?: PageText;
  readonly accounts?: PageText;
}

const DEFAULTS = { retryable: false, stage: "request", firstGenerationText: "Unable to process" };

/** The fields of a row that have a default may be left out. */
type RowFields = Omit<ErrorRow, "code" | "grpc" | "http" | keyof typeof DEFAULTS> & Partial<typeof DEFAULTS>;

/** Creates a row. */
export function row(code: string, grpc: Code, http: number, fields: RowFields): ErrorRow {
  return { code, grpc, http, ...DEFAULTS, ...fields };
}

/** What a web page says about an error. */
export interface PageText {
  /** What happened, in plain words; the message of the service by default. */
  readonly title?: string;
  /** What the user can do. */
  readonly text?: string;
}

/** All operations of a service, or one operation of GalleryService. */
export type Operation =
  | "FaceService"
  | "FaceAnalysisService"
  | "GalleryService"
  | "AccountService"
  | "AdminService"
  | keyof typeof GalleryService.method;

export const ANALYSIS_SERVICES = ["FaceService", "FaceAnalysisService"] as const;
/** The services that use the networks. */
export const FACE_SERVICES = [...ANALYSIS_SERVICES, "GalleryService"] as const;
/** The services that a user calls. */
export const USER_SERVICES = [...FACE_SERVICES, "AccountService"] as const;
export const EVERY_SERVICE = [...USER_SERVICES, "AdminService"] as const;

/** The operations on images. */
export const IMAGE_OPERATIONS = [...ANALYSIS_SERVICES, "enrolFace", "identifyFaces"] as const;

/** The operations on a gallery that exists. */
export const GALLERY_OPERATIONS = [
  "getGallery",
  "updateGallery",
  "deleteGallery",
  "replaceGallery",
  "enrolFace",
  "getPerson",
  "listPeople",
  "updatePerson",
  "deletePerson",
  "deleteFace",
  "identifyFaces",
  "exportGallery",
  "exportPerson",
  "importFaces",
] as const;

/** The operations that leave lines in the audit trail. */
export const AUDITED_OPERATIONS: readonly Operation[] = [
  "createGallery",
  ...GALLERY_OPERATIONS.filter((name) => !["getGallery", "getPerson", "listPeople"].includes(name)),
  "AccountService",
  "AdminService",
];

/** Texts of the first generation. */
export const MISSING_DETAILS = "Please provide all necessary details";
export const LIMIT_OVER = "Api request limit over";
export const INVALID_IMAGE = "Invalid Image";

/** Remedies. */
export const UPLOAD_INSTEAD = "Check the URL in a browser, or upload the image instead of its URL.";
export const RETRY_LATER =
  "Wait as long as `Retry-After` says and send the request again. The clients do this.";

/** Texts of the pages. */
export const SMALLER_PHOTO = "Make the photo smaller. 1024 pixels are enough.";
export const OUTDATED_PAGE: PageText = {
  title: "This page is out of date.",
  text: "The page and the service have different versions. Reload the page.",
};
