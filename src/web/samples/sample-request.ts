/** A bounding box: x1, y1, x2, y2 in pixels of the upright image. */
export type SampleBox = readonly [x1: number, y1: number, x2: number, y2: number];

/** A photo of a request: a file of the caller, or a URL from which the service fetches it. */
export interface SampleImage {
  /** The request's field, such as `img_1` or `source`. In a stream it has no meaning. */
  readonly field: string;
  /** Path of the file. */
  readonly file: string;
  /** The URL, instead of the file. Streams send files only. */
  readonly url?: string | undefined;
  /** Boxes that select faces. Only operations with a list of boxes use more than the first. */
  readonly boxes?: readonly SampleBox[];
}

/** The value of a field other than an image. */
export type SampleValue = string | number | boolean | readonly string[];

/** One request, from which a sample in any language can be written. */
export interface SampleRequest {
  readonly operation: OperationId;
  /** The photos, in the order of the operation's parameters. */
  readonly images?: readonly SampleImage[];
  /** Other fields, also those in the path, by their names in JSON: `quality`, `maxFaces`, `galleryId`. */
  readonly fields?: Readonly<Record<string, SampleValue>>;
  /** The limits of a plan. */
  readonly limits?: Readonly<Record<string, number>>;
  /** The file of JSON lines that an export writes or an import reads. */
  readonly linesFile?: string;
}

/** Where a sample sends its request. */
export interface SampleDestination {
  /** URL of the service without a slash at its end. */
  readonly address: string;
  /** The key, written into the sample. Without it, the sample reads an environment variable: VISAGE_KEY. */
  readonly key?: string;
}

/** How a request and its response are transferred over plain HTTP. */
type Body = "json" | "form" | "lines" | "none";

/** How an operation is called. */
export interface SampleOperation {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  /** The path, with fields in braces. */
  readonly path: string;
  /** Full name of the RPC. */
  readonly rpc: string;
  readonly body: Body;
  /** What an image field contains: an image, or a message with an image and a box. */
  readonly imageKind?: "image" | "source";
  /** The field of the boxes of each image. Sources contain theirs. */
  readonly boxFields?: Readonly<Record<string, { readonly name: string; readonly isList: boolean }>>;
}

const FACE = "face.v1.FaceService";
const ANALYSIS = "visage.v1.FaceAnalysisService";
const GALLERY = "visage.v1.GalleryService";
const ACCOUNT = "visage.v1.AccountService";
const ADMIN = "visage.v1.AdminService";
const PAIR_BOXES = {
  img_1: { name: "bboxes_1", isList: false },
  img_2: { name: "bboxes_2", isList: false },
};
const GALLERY_PATH = "/v1/galleries/{galleryId}";
const PERSON_PATH = `${GALLERY_PATH}/people/{personId}`;
const USER_PATH = "/v1/admin/users/{user}";

function form(path: string, rpc: string, rest: Partial<SampleOperation> = {}): SampleOperation {
  return { method: "POST", path, rpc, body: "form", imageKind: "image", ...rest };
}

function plain(method: SampleOperation["method"], path: string, rpc: string): SampleOperation {
  const hasBody = method === "POST" || method === "PATCH";
  return { method, path, rpc, body: hasBody ? "json" : "none" };
}

/** All operations that have samples, by their ids in the OpenAPI document. */
export const SAMPLE_OPERATIONS = {
  matchFaces: form("/match_faces", `${FACE}/MatchFaces`, { boxFields: PAIR_BOXES }),
  compareFaces: form("/compare_faces", `${FACE}/CompareFaces`, { boxFields: PAIR_BOXES }),
  getImageAttr: form("/get_image_attr", `${FACE}/GetImageAttr`, {
    boxFields: { image_attr: { name: "bboxes", isList: true } },
  }),
  getFaceVec: form("/get_face_vec", `${FACE}/GetFaceVec`, {
    boxFields: { img: { name: "bboxes", isList: false } },
  }),
  v1AnalyzeImage: form("/v1/images:analyze", `${ANALYSIS}/AnalyzeImage`, {
    boxFields: { image: { name: "boxes", isList: true } },
  }),
  v1CompareFaces: form("/v1/faces:compare", `${ANALYSIS}/CompareFaces`, { imageKind: "source" }),
  v1AnalyzeImages: {
    method: "POST",
    path: "/v1/images:analyzeStream",
    rpc: `${ANALYSIS}/AnalyzeImages`,
    body: "lines",
    imageKind: "image",
  },
  v1CreateGallery: plain("POST", "/v1/galleries", `${GALLERY}/CreateGallery`),
  v1ListGalleries: plain("GET", "/v1/galleries", `${GALLERY}/ListGalleries`),
  v1GetGallery: plain("GET", GALLERY_PATH, `${GALLERY}/GetGallery`),
  v1UpdateGallery: plain("PATCH", GALLERY_PATH, `${GALLERY}/UpdateGallery`),
  v1DeleteGallery: plain("DELETE", GALLERY_PATH, `${GALLERY}/DeleteGallery`),
  v1ReplaceGallery: plain("POST", `${GALLERY_PATH}:replace`, `${GALLERY}/ReplaceGallery`),
  v1EnrolFace: form(`${PERSON_PATH}/faces`, `${GALLERY}/EnrolFace`, { imageKind: "source" }),
  v1GetPerson: plain("GET", PERSON_PATH, `${GALLERY}/GetPerson`),
  v1ListPeople: plain("GET", `${GALLERY_PATH}/people`, `${GALLERY}/ListPeople`),
  v1UpdatePerson: plain("PATCH", PERSON_PATH, `${GALLERY}/UpdatePerson`),
  v1DeletePerson: plain("DELETE", PERSON_PATH, `${GALLERY}/DeletePerson`),
  v1ExportPerson: { ...plain("GET", `${PERSON_PATH}:export`, `${GALLERY}/ExportPerson`), body: "lines" },
  v1DeleteFace: plain("DELETE", `${PERSON_PATH}/faces/{faceId}`, `${GALLERY}/DeleteFace`),
  v1IdentifyFaces: form(`${GALLERY_PATH}:identify`, `${GALLERY}/IdentifyFaces`, { imageKind: "source" }),
  v1ExportGallery: { ...plain("GET", `${GALLERY_PATH}:export`, `${GALLERY}/ExportGallery`), body: "lines" },
  v1ImportFaces: { ...plain("POST", `${GALLERY_PATH}:import`, `${GALLERY}/ImportFaces`), body: "lines" },
  v1GetAccount: plain("GET", "/v1/account", `${ACCOUNT}/GetAccount`),
  v1GetUsage: plain("GET", "/v1/account/usage", `${ACCOUNT}/GetUsage`),
  v1CreateKey: plain("POST", "/v1/account/keys", `${ACCOUNT}/CreateKey`),
  v1DeleteKey: plain("DELETE", "/v1/account/keys/{fingerprint}", `${ACCOUNT}/DeleteKey`),
  v1ListPlans: plain("GET", "/v1/admin/plans", `${ADMIN}/ListPlans`),
  v1CreatePlan: plain("POST", "/v1/admin/plans", `${ADMIN}/CreatePlan`),
  v1UpdatePlan: plain("PATCH", "/v1/admin/plans/{name}", `${ADMIN}/UpdatePlan`),
  v1DeletePlan: plain("DELETE", "/v1/admin/plans/{name}", `${ADMIN}/DeletePlan`),
  v1CreateUser: plain("POST", "/v1/admin/users", `${ADMIN}/CreateUser`),
  v1ListUsers: plain("GET", "/v1/admin/users", `${ADMIN}/ListUsers`),
  v1GetUser: plain("GET", USER_PATH, `${ADMIN}/GetUser`),
  v1UpdateUser: plain("PATCH", USER_PATH, `${ADMIN}/UpdateUser`),
  v1DeleteUser: plain("DELETE", USER_PATH, `${ADMIN}/DeleteUser`),
  v1CreateUserKey: plain("POST", `${USER_PATH}/keys`, `${ADMIN}/CreateUserKey`),
  v1DeleteUserKey: plain("DELETE", `${USER_PATH}/keys/{fingerprint}`, `${ADMIN}/DeleteUserKey`),
  v1SumUsage: plain("GET", "/v1/admin/usage", `${ADMIN}/SumUsage`),
} as const satisfies Readonly<Record<string, SampleOperation>>;

/** The id of an operation in the OpenAPI document. */
export type OperationId = keyof typeof SAMPLE_OPERATIONS;

/** Looks an operation up. */
export function sampleOperation(id: OperationId): SampleOperation {
  return SAMPLE_OPERATIONS[id];
}

/** The environment variable with the key of an operation. */
export function keyVariable(id: OperationId): string {
  return sampleOperation(id).rpc.startsWith(ADMIN) ? "VISAGE_ADMIN_KEY" : "VISAGE_KEY";
}

/** Splits the fields of a request into those of the path and the others. */
export function splitFields({ operation, fields = {} }: SampleRequest): {
  readonly path: string;
  readonly rest: Readonly<Record<string, SampleValue>>;
} {
  const rest = { ...fields };
  const path = sampleOperation(operation).path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = rest[name] ?? name;
    delete rest[name];
    return encodeURIComponent(String(value));
  });
  return { path, rest };
}

/** Returns a field as text, or an empty text. */
export function textField({ fields }: SampleRequest, name: string): string {
  return String(fields?.[name] ?? "");
}
