import type { ErrorKind } from "../../src/service/error-table.ts";

/** Why a request ends with an error, and what its sender can do. */
export interface Remedy {
  readonly cause: string;
  readonly remedy: string;
}

const UPLOAD_INSTEAD = "Check the URL in a browser, or upload the image instead of its URL.";
const LATER = "Wait as long as `Retry-After` says and send the request again. The clients do this.";

/** The cause and the remedy of every error. */
export const REMEDIES: Readonly<Record<ErrorKind, Remedy>> = {
  badRequest: {
    cause:
      "A required field is missing, or a field, the JSON or the form cannot be parsed. The message names the field.",
    remedy: "Correct the field. The same request fails again.",
  },
  badBox: {
    cause:
      "A box is not `x1,y1,x2,y2`, is empty or lies outside the image, or there are more than 256 boxes.",
    remedy: "Send boxes in pixels of the upright image, as responses contain them.",
  },
  unreadableImage: {
    cause: "The bytes start like an image, but are damaged or end too early.",
    remedy: "Save the image again. If all images fail, check that your program sends them as binary.",
  },
  unsupportedFormat: {
    cause: "The bytes are neither JPEG nor PNG, whatever the name or content type says.",
    remedy: "Convert the image to JPEG or PNG. The operator can allow WebP.",
  },
  imageTooLarge: {
    cause: "The image has more bytes or pixels than the service or the user's plan allows.",
    remedy: "Scale the image down. About 1024 pixels are enough.",
  },
  urlUnreachable: {
    cause: "The host does not resolve, does not answer, or has an address that the service must not fetch.",
    remedy: `${UPLOAD_INSTEAD} Only public addresses on ports 80 and 443 are fetched.`,
  },
  urlRefused: {
    cause: "The server of the image answered with a 4xx status, for instance because it asks for a login.",
    remedy: UPLOAD_INSTEAD,
  },
  urlTooSlow: {
    cause: "The image did not arrive within the time limit.",
    remedy: `Send the request again. ${UPLOAD_INSTEAD}`,
  },
  urlFailed: {
    cause: "The server of the image answered with a 5xx status.",
    remedy: `Send the request again later. ${UPLOAD_INSTEAD}`,
  },
  requestTooLarge: {
    cause: "The body is larger than the service accepts, before or after decompression.",
    remedy: "Send smaller images, or one request for each image.",
  },
  headersTooLarge: {
    cause: "The headers have more than 16 KiB, mostly because of cookies.",
    remedy: "Send fewer headers.",
  },
  unsupportedEncoding: {
    cause: "The body has a `Content-Encoding` that the service does not decode.",
    remedy: "Send the body without `Content-Encoding`. gRPC and Connect may compress messages with gzip.",
  },
  modelMismatch: {
    cause: "A stored embedding or a gallery was made by a model other than the service's.",
    remedy: "Compute the embeddings again from the images. Enrol the people of the gallery in a new one.",
  },
  noFace: {
    cause: "The image shows no face, or only faces that are too small, dark or turned away to be found.",
    remedy: "Use an image in which the face is larger, brighter or turned to the camera.",
  },
  noFaceInBox: {
    cause: "The box contains no face. The message says which box of the list it is.",
    remedy: "Use the boxes of a response for the same image, or leave the box out.",
  },
  faceTooSmall: {
    cause: "The quality check is on and the face is smaller than 60 by 60 pixels.",
    remedy: "Use a larger image of the face, or turn the check off.",
  },
  lowIllumination: {
    cause: "The quality check is on and the mean brightness of the face is below 70 of 255.",
    remedy: "Use a brighter image, or turn the check off.",
  },
  incorrectPose: {
    cause: "The quality check is on and the face is turned by more than 50 degrees.",
    remedy: "Use an image in which the person looks at the camera, or turn the check off.",
  },
  lowQuality: {
    cause:
      "An enrolment checks the quality, and the face is blurred, grainy, overexposed, covered or cut off.",
    remedy:
      "The message names the worst component and what to do. Use a better photo, or set `skip_quality_check`.",
  },
  noUserId: {
    cause: "No header has a key. Some proxies drop headers with an underscore, such as `user_id`.",
    remedy: "Send `Authorization: Bearer KEY`.",
  },
  unknownUser: {
    cause:
      "The key is mistyped, expired or revoked, the user is disabled, or two headers have keys of different users.",
    remedy: "Check the key, or ask the operator for a new one.",
  },
  noSubscription: { cause: "The user's subscription has ended.", remedy: "Ask the operator to renew it." },
  quotaSpent: {
    cause: "The user has made all requests that the plan allows in this month.",
    remedy:
      "Wait for the next month, or ask the operator for a larger plan. `RateLimit-Reset` says in how many seconds the month ends.",
  },
  tooManyRequests: {
    cause:
      "The user sends more requests per second than the plan allows, or an address had too many failed logins.",
    remedy: LATER,
  },
  tooManyInFlight: {
    cause:
      "The user has too many requests in progress, or the rest of the monthly quota is reserved by them.",
    remedy: `Send fewer at the same time. ${LATER}`,
  },
  noSuchPath: {
    cause: "No operation has this path, or the proxy in front of the service changes paths.",
    remedy: "Compare the path with this reference.",
  },
  wrongMethod: {
    cause: "The path exists, but not with this HTTP method.",
    remedy: "Use the method that `Allow` in the response names.",
  },
  internal: {
    cause: "A defect of the service, or a worker process that ended during the request.",
    remedy: "Send the request once more. If it fails again, give `x-request-id` to the operator.",
  },
  overloaded: { cause: "More requests are waiting than the service can process in time.", remedy: LATER },
  draining: {
    cause: "This replica is shutting down, for instance for an update.",
    remedy: `${LATER} Another replica answers.`,
  },
  deadlinePassed: {
    cause: "The deadline of the request, or the service's own limit, passed before the result was ready.",
    remedy: "Set a longer deadline, or send smaller images.",
  },
  requestTooSlow: {
    cause: "The body arrived too slowly, or a stream paused for 30 seconds.",
    remedy: "Send smaller images. On a stream, send and read at the same time.",
  },
  accountsUnavailable: { cause: "The service cannot reach the database of accounts.", remedy: LATER },
  galleriesUnavailable: {
    cause: "The service cannot reach the database of galleries or their search.",
    remedy: LATER,
  },
  galleryNotFound: {
    cause: "No gallery of this user has the id. You cannot see the galleries of other users.",
    remedy: "Create the gallery, or check its id and your key.",
  },
  personNotFound: {
    cause: "The gallery has no person with the id.",
    remedy: "Enrol a face of the person first.",
  },
  faceNotFound: { cause: "The person has no face with the id.", remedy: "GetPerson lists the ids." },
  galleryExists: {
    cause: "The user has a gallery with this id already.",
    remedy: "Use it, or choose another id.",
  },
  tooManyGalleries: {
    cause: "The user has as many galleries as the plan allows.",
    remedy: "Delete a gallery, or ask the operator for a larger plan.",
  },
  tooManyFaces: {
    cause: "The gallery has as many faces as the plan allows.",
    remedy: "Delete faces or people, use another gallery, or ask the operator for a larger plan.",
  },
  tooManyFacesOfPerson: {
    cause: "A person has at most 20 faces.",
    remedy: "Delete a face of the person first.",
  },
  galleryTooLarge: {
    cause: "The index of the gallery does not fit into the memory that the operator gave to galleries.",
    remedy: "Split the gallery, or ask the operator to raise VISAGE_GALLERY_MEMORY_BYTES.",
  },
  galleryLoading: {
    cause:
      "The service has not read all faces of the gallery yet, as after a restart, and would not have in time for this request.",
    remedy: "Repeat the request after the time in `Retry-After`, which is estimated from the progress.",
  },
  noAdminKey: {
    cause:
      "The header `Authorization: Bearer` has no admin key, or a wrong one. A key of a user is not enough.",
    remedy: "Send the value of VISAGE_ADMIN_KEY.",
  },
  crossOrigin: {
    cause: "A web page of another origin called an operation of the operator.",
    remedy: "Call it from a program, or from a page of the service itself.",
  },
  userNotFound: { cause: "No user has the name, id or fingerprint.", remedy: "ListUsers returns all users." },
  planNotFound: { cause: "No plan has the name.", remedy: "ListPlans returns all plans." },
  keyNotFound: {
    cause: "The user has no key with the fingerprint, or it has expired.",
    remedy: "GetAccount returns the fingerprints of the keys.",
  },
  userExists: { cause: "The name is taken.", remedy: "Choose another name, or change the existing user." },
  planExists: { cause: "The name is taken.", remedy: "Choose another name, or change the existing plan." },
  certificateTaken: {
    cause: "The common name of the certificate belongs to another user.",
    remedy: "Remove it from the other user first.",
  },
  planInUse: { cause: "The plan still has users.", remedy: "Give these users another plan first." },
  tooManyKeys: {
    cause: "A user has at most two live keys.",
    remedy: "Delete the key that is no longer used, then create the new one.",
  },
  keyInUse: {
    cause: "The request would delete the key that it was sent with.",
    remedy: "Send the request with the user's other key.",
  },
};
