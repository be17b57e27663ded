import { Code } from "@connectrpc/connect";
import {
  AUDITED_OPERATIONS,
  EVERY_SERVICE,
  FACE_SERVICES,
  MISSING_DETAILS,
  RETRY_LATER,
  row,
} from "./error-row.ts";

/** Errors of the service itself: codes 5000 to 5999. */
export const SERVER_ERRORS = {
  internal: row("5000", Code.Internal, 500, {
    text: "Internal error.",
    retryable: true,
    operations: EVERY_SERVICE,
    cause: "A defect of the service, or a worker process that ended during the request.",
    remedy: "Send the request once more. If it fails again, give `x-request-id` to the operator.",
    playground: {
      title: "The service failed.",
      text: "Try once more. If the error persists, send the request id to the operator of this service.",
    },
  }),
  overloaded: row("5001", Code.Unavailable, 503, {
    text: "The service is overloaded and the request can be retried shortly.",
    retryable: true,
    operations: FACE_SERVICES,
    cause: "More requests are waiting than the service can process in time.",
    remedy: RETRY_LATER,
    playground: { title: "The service is busy.", text: "Try again shortly." },
  }),
  draining: row("5002", Code.Unavailable, 503, {
    text: "The service is shutting down and the request can be retried.",
    retryable: true,
    operations: EVERY_SERVICE,
    cause: "This replica is shutting down, for instance for an update.",
    remedy: `${RETRY_LATER} Another replica answers.`,
    playground: { title: "The service is restarting.", text: "Try again shortly." },
  }),
  deadlinePassed: row("5003", Code.DeadlineExceeded, 504, {
    text: "The request took longer than its deadline allows.",
    retryable: true,
    operations: EVERY_SERVICE,
    cause: "The deadline of the request, or the service's own limit, passed before the result was ready.",
    remedy: "Set a longer deadline, or send smaller images.",
    playground: {
      title: "The service took too long.",
      text: "Try again. A smaller photo is processed faster.",
    },
  }),
  requestTooSlow: row("5004", Code.DeadlineExceeded, 408, {
    text: "The request was sent too slowly.",
    retryable: true,
    firstGenerationText: MISSING_DETAILS,
    operations: EVERY_SERVICE,
    cause: "The body arrived too slowly, or a stream paused for 30 seconds.",
    remedy: "Send smaller images. On a stream, send and read at the same time.",
    playground: { title: "The upload was too slow.", text: "Try a smaller photo, or a faster connection." },
  }),
  accountsUnavailable: row("5005", Code.Unavailable, 503, {
    text: "User accounts cannot be checked at the moment.",
    retryable: true,
    operations: EVERY_SERVICE,
    cause: "The service cannot reach the database of accounts.",
    remedy: RETRY_LATER,
    playground: { text: "Try again shortly." },
  }),
  galleriesUnavailable: row("5006", Code.Unavailable, 503, {
    text: "Galleries cannot be reached at the moment.",
    retryable: true,
    operations: ["GalleryService"],
    cause:
      "The service cannot reach what it needs for galleries: their database, the process that searches them, or Milvus.",
    remedy: RETRY_LATER,
    galleries: { text: "Try again shortly." },
  }),
  auditUnavailable: row("5007", Code.Unavailable, 503, {
    text: "The audit trail cannot be written at the moment.",
    retryable: true,
    operations: AUDITED_OPERATIONS,
    cause:
      "Operations that must be recorded are stopped because the record cannot be written. Nothing was changed, apart from the earlier batches of an import.",
    remedy: RETRY_LATER,
    galleries: { text: "Try again shortly." },
  }),
};
