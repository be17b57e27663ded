import { Code } from "@connectrpc/connect";
import {
  EVERY_SERVICE,
  IMAGE_OPERATIONS,
  INVALID_IMAGE,
  MISSING_DETAILS,
  OUTDATED_PAGE,
  row,
  SMALLER_PHOTO,
  UPLOAD_INSTEAD,
} from "./error-row.ts";

/** Errors of the request and of its images: codes 2000 to 2999. */
export const REQUEST_ERRORS = {
  badRequest: row("2001", Code.InvalidArgument, 400, {
    text: "The request is malformed.",
    firstGenerationText: MISSING_DETAILS,
    operations: EVERY_SERVICE,
    cause:
      "A required field is missing, or a field, the JSON or the form cannot be parsed. The message names the field.",
    remedy: "Correct the field. The same request fails again.",
    playground: {
      title: "The service does not accept this request.",
      text: "Check that all photos are added and that the options suit the operation.",
    },
  }),
  badBox: row("2002", Code.InvalidArgument, 400, {
    text: "The bounding box is malformed.",
    firstGenerationText: MISSING_DETAILS,
    operations: IMAGE_OPERATIONS,
    cause:
      "A box is not `x1,y1,x2,y2`, is empty or lies outside the image, or there are more than 256 boxes.",
    remedy: "Send boxes in pixels of the upright image, as responses contain them.",
    playground: {
      title: "The selected box is not valid.",
      text: "Select the face again, or send the photo without a box.",
    },
  }),
  unreadableImage: row("2003", Code.InvalidArgument, 400, {
    text: "The image is damaged or incomplete and cannot be read.",
    stage: "decode",
    firstGenerationText: INVALID_IMAGE,
    operations: IMAGE_OPERATIONS,
    cause: "The bytes start like an image, but are damaged or end too early.",
    remedy: "Save the image again. If all images fail, check that your program sends them as binary.",
    playground: { text: "Save the photo again and retry." },
  }),
  unsupportedFormat: row("2004", Code.InvalidArgument, 415, {
    text: "The image is neither a JPEG nor a PNG.",
    stage: "decode",
    firstGenerationText: INVALID_IMAGE,
    operations: IMAGE_OPERATIONS,
    cause: "The bytes are neither JPEG nor PNG, whatever the name or content type says.",
    remedy: "Convert the image to JPEG or PNG. The operator can allow WebP.",
    playground: { text: "Save the photo as JPEG or PNG." },
    galleries: { text: "Save the photo as JPEG or PNG." },
  }),
  imageTooLarge: row("2005", Code.InvalidArgument, 413, {
    text: "The image is too large.",
    stage: "decode",
    firstGenerationText: INVALID_IMAGE,
    operations: IMAGE_OPERATIONS,
    cause: "The image has more bytes or pixels than the service or the user's plan allows.",
    remedy: "Scale the image down. About 1024 pixels are enough.",
    playground: { title: "The photo is too large.", text: SMALLER_PHOTO },
    galleries: { text: SMALLER_PHOTO },
  }),
  urlUnreachable: row("2006", Code.FailedPrecondition, 422, {
    text: "The image could not be fetched from its URL.",
    stage: "fetch",
    firstGenerationText: INVALID_IMAGE,
    operations: IMAGE_OPERATIONS,
    cause: "The host does not resolve, does not answer, or has an address that the service must not fetch.",
    remedy: `${UPLOAD_INSTEAD} Only public addresses on ports 80 and 443 are fetched.`,
    playground: {
      title: "The photo could not be fetched from its URL.",
      text: "Check the URL, or upload the photo instead. The service fetches only from public addresses on ports 80 and 443; its operator can allow others with VISAGE_FETCH_ALLOW.",
    },
  }),
  urlRefused: row("2007", Code.FailedPrecondition, 422, {
    text: "The server of the image URL rejected the request.",
    stage: "fetch",
    firstGenerationText: INVALID_IMAGE,
    operations: IMAGE_OPERATIONS,
    cause: "The server of the image answered with a 4xx status, for instance because it asks for a login.",
    remedy: UPLOAD_INSTEAD,
    playground: {
      title: "The server of the URL does not give out the photo.",
      text: "Check the URL, or upload the photo instead.",
    },
  }),
  urlTooSlow: row("2008", Code.DeadlineExceeded, 504, {
    text: "The image did not arrive from its URL in time.",
    retryable: true,
    stage: "fetch",
    firstGenerationText: INVALID_IMAGE,
    operations: IMAGE_OPERATIONS,
    cause: "The image did not arrive within the time limit.",
    remedy: `Send the request again. ${UPLOAD_INSTEAD}`,
    playground: {
      title: "The photo did not arrive from its URL in time.",
      text: "Try again, or upload the photo instead.",
    },
  }),
  urlFailed: row("2009", Code.Unavailable, 503, {
    text: "The server of the image URL failed.",
    retryable: true,
    stage: "fetch",
    firstGenerationText: INVALID_IMAGE,
    operations: IMAGE_OPERATIONS,
    cause: "The server of the image answered with a 5xx status.",
    remedy: `Send the request again later. ${UPLOAD_INSTEAD}`,
    playground: { title: "The server of the URL failed.", text: "Try again, or upload the photo instead." },
  }),
  requestTooLarge: row("2010", Code.ResourceExhausted, 413, {
    text: "The request body is too large.",
    firstGenerationText: INVALID_IMAGE,
    operations: EVERY_SERVICE,
    cause: "The body is larger than the service accepts, before or after decompression.",
    remedy: "Send smaller images, or one request for each image.",
    playground: {
      title: "The photos are too large.",
      text: "Make the photos smaller. 1024 pixels are enough.",
    },
    galleries: { text: SMALLER_PHOTO },
  }),
  headersTooLarge: row("2011", Code.InvalidArgument, 431, {
    text: "The request headers are too large.",
    firstGenerationText: MISSING_DETAILS,
    operations: EVERY_SERVICE,
    cause: "The headers have more than 16 KiB, mostly because of cookies.",
    remedy: "Send fewer headers.",
    playground: {
      title: "The browser sends too many cookies.",
      text: "Clear this site's cookies and try again.",
    },
  }),
  unsupportedEncoding: row("2012", Code.Unimplemented, 415, {
    text: "The content encoding of the request body is not supported.",
    firstGenerationText: MISSING_DETAILS,
    operations: EVERY_SERVICE,
    cause: "The body has a `Content-Encoding` that the service does not decode.",
    remedy: "Send the body without `Content-Encoding`. gRPC and Connect may compress messages with gzip.",
    playground: OUTDATED_PAGE,
  }),
  modelMismatch: row("2013", Code.FailedPrecondition, 422, {
    text: "The embedding was made by another model.",
    operations: [...IMAGE_OPERATIONS, "importFaces"],
    cause: "A stored embedding or a gallery was made by a model other than the service's.",
    remedy:
      "Compute the embeddings again from the images. Migrate the gallery (`visage galleries migrate`); the operator can let it be searched until then.",
    galleries: {
      text: "The gallery is read-only until it is migrated: templates of different models cannot be compared.",
    },
  }),
};
