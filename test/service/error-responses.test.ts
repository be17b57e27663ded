import { Code, ConnectError } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import {
  BadRequestSchema,
  ErrorInfoSchema,
  QuotaFailureSchema,
  RetryInfoSchema,
} from "../../gen/ts/google/rpc/error_details_pb.ts";
import { FaceError } from "../../src/core/index.ts";
import { FetchError } from "../../src/fetch/fetch-error.ts";
import { connectErrorFrom, httpErrorFrom } from "../../src/service/error-responses.ts";
import {
  ERROR_KINDS,
  ERRORS,
  type ErrorKind,
  kindFromReason,
  reasonFromKind,
} from "../../src/service/error-table.ts";
import { ServiceError, serviceErrorFrom } from "../../src/service/service-error.ts";
import { QueueError } from "../../src/workers/pool.ts";

describe("the error table", () => {
  test("gives every kind its own code of four digits", () => {
    const codes = ERROR_KINDS.map((kind) => ERRORS[kind].code);
    expect(new Set(codes).size).toBe(ERROR_KINDS.length);
    for (const code of codes) expect(code).toMatch(/^\d{4}$/);
    expect(codes).toEqual(codes.toSorted());
  });

  test("names operations for every kind except those of unknown paths", () => {
    const others = ERROR_KINDS.filter((kind) => ERRORS[kind].operations.length === 0);
    expect(others).toEqual(["noSuchPath", "wrongMethod"]);
  });

  test("converts every kind to a reason and back", () => {
    for (const kind of ERROR_KINDS) expect(kindFromReason(reasonFromKind(kind))).toBe(kind);
    expect(kindFromReason("NO_SUCH_REASON")).toBeUndefined();
  });

  /** The contract: codes, statuses and retries that callers rely on. A row never changes. */
  test.each<[ErrorKind, string, Code, number, "retry" | "no retry"]>([
    ["badRequest", "2001", Code.InvalidArgument, 400, "no retry"],
    ["badBox", "2002", Code.InvalidArgument, 400, "no retry"],
    ["unreadableImage", "2003", Code.InvalidArgument, 400, "no retry"],
    ["unsupportedFormat", "2004", Code.InvalidArgument, 415, "no retry"],
    ["imageTooLarge", "2005", Code.InvalidArgument, 413, "no retry"],
    ["urlUnreachable", "2006", Code.FailedPrecondition, 422, "no retry"],
    ["urlRefused", "2007", Code.FailedPrecondition, 422, "no retry"],
    ["urlTooSlow", "2008", Code.DeadlineExceeded, 504, "retry"],
    ["urlFailed", "2009", Code.Unavailable, 503, "retry"],
    ["requestTooLarge", "2010", Code.ResourceExhausted, 413, "no retry"],
    ["headersTooLarge", "2011", Code.InvalidArgument, 431, "no retry"],
    ["unsupportedEncoding", "2012", Code.Unimplemented, 415, "no retry"],
    ["noFace", "3001", Code.FailedPrecondition, 422, "no retry"],
    ["noFaceInBox", "3002", Code.FailedPrecondition, 422, "no retry"],
    ["faceTooSmall", "3101", Code.FailedPrecondition, 422, "no retry"],
    ["lowIllumination", "3102", Code.FailedPrecondition, 422, "no retry"],
    ["incorrectPose", "3103", Code.FailedPrecondition, 422, "no retry"],
    ["noUserId", "4001", Code.Unauthenticated, 401, "no retry"],
    ["unknownUser", "4002", Code.Unauthenticated, 401, "no retry"],
    ["noSubscription", "4003", Code.PermissionDenied, 402, "no retry"],
    ["quotaSpent", "4004", Code.ResourceExhausted, 429, "no retry"],
    ["tooManyRequests", "4005", Code.ResourceExhausted, 429, "retry"],
    ["tooManyInFlight", "4006", Code.ResourceExhausted, 429, "retry"],
    ["noSuchPath", "4040", Code.Unimplemented, 404, "no retry"],
    ["wrongMethod", "4050", Code.Unimplemented, 405, "no retry"],
    ["internal", "5000", Code.Internal, 500, "retry"],
    ["overloaded", "5001", Code.Unavailable, 503, "retry"],
    ["draining", "5002", Code.Unavailable, 503, "retry"],
    ["deadlinePassed", "5003", Code.DeadlineExceeded, 504, "retry"],
    ["requestTooSlow", "5004", Code.DeadlineExceeded, 408, "retry"],
    ["accountsUnavailable", "5005", Code.Unavailable, 503, "retry"],
  ])("%s is %s over every protocol", (kind, code, grpc, http, retry) => {
    const retryable = retry === "retry";
    const error = new ServiceError(kind);
    const rpc = connectErrorFrom(error);
    expect(rpc.code).toBe(grpc);
    expect(rpc.findDetails(ErrorInfoSchema)).toMatchObject([
      {
        reason: reasonFromKind(kind),
        domain: "visage.dev",
        metadata: { code, retryable: String(retryable) },
      },
    ]);
    // The error of an operation reaches plain HTTP as a Connect error.
    for (const plain of [httpErrorFrom(error), httpErrorFrom(rpc)]) {
      expect(plain).toMatchObject({ status: http, body: { code, success: false } });
      expect(plain.body.data).toEqual({ reason: reasonFromKind(kind), retryable });
      expect(plain.headers["retry-after"]).toBe(retryable ? "1" : undefined);
    }
    expect(rpc.metadata.get("retry-after")).toBe(retryable ? "1" : null);
  });

  test.each(ERROR_KINDS)("%s has a text that grpc-js shows unchanged", (kind) => {
    expect(ERRORS[kind].text).toMatch(/^[A-Z][\w .'-]+$/);
  });
});

describe("an error over gRPC", () => {
  test("states the field, the stage and whether a retry helps", () => {
    const box = { x1: 1, y1: 2, x2: 3, y2: 4 };
    const error = connectErrorFrom(
      serviceErrorFrom(new FaceError("noFaceInBox", "No face.", { box }), "img_2"),
    );
    expect(error).toMatchObject({ code: Code.FailedPrecondition, rawMessage: "No face (bboxes_2)." });
    expect(error.findDetails(ErrorInfoSchema)).toMatchObject([
      {
        reason: "NO_FACE_IN_BOX",
        domain: "visage.dev",
        metadata: {
          code: "3002",
          field: "img_2",
          box_field: "bboxes_2",
          stage: "find",
          retryable: "false",
          box: "1,2,3,4",
        },
      },
    ]);
  });

  test("keeps its details when plain HTTP reports it", () => {
    const box = { x1: 1, y1: 2, x2: 3, y2: 4 };
    const error = connectErrorFrom(
      serviceErrorFrom(new FaceError("badBox", "Bad.", { box, boxIndex: 3 }), "image"),
    );
    expect(connectErrorFrom(serviceErrorFrom(error)).details).toEqual(error.details);
    const fetched = connectErrorFrom(serviceErrorFrom(new FetchError("tooLarge", "Large."), "image"));
    expect(connectErrorFrom(serviceErrorFrom(fetched)).details).toEqual(fetched.details);
  });

  test("names the field of a bad request", () => {
    const error = connectErrorFrom(serviceErrorFrom(new FaceError("unreadableImage", "Broken."), "img_1"));
    expect(error.findDetails(BadRequestSchema)).toMatchObject([
      { fieldViolations: [{ field: "img_1", description: "Broken." }] },
    ]);
  });

  test.each([
    ["img_1", 0, "bboxes_1"],
    ["img_2", 0, "bboxes_2"],
    ["img", 0, "bboxes"],
    ["image_attr", 3, "bboxes[3]"],
    ["image_attr", undefined, "bboxes"],
  ])("names the box in %s that is malformed: %s", (field, boxIndex, boxField) => {
    const fault = new FaceError("badBox", "The box is empty.", { boxIndex });
    const error = connectErrorFrom(serviceErrorFrom(fault, field));
    const description = `The box is empty (${boxField}).`;
    expect(error.findDetails(BadRequestSchema)).toMatchObject([
      { fieldViolations: [{ field: boxField, description }] },
    ]);
    expect(error.findDetails(ErrorInfoSchema)).toMatchObject([{ metadata: { field, box_field: boxField } }]);
    expect(httpErrorFrom(error)).toMatchObject({
      headers: { "x-visage-image": field },
      body: { message: description },
    });
  });

  test("states the delay before a retry", () => {
    const error = connectErrorFrom(serviceErrorFrom(new QueueError("overloaded", "Full.")));
    expect(error.code).toBe(Code.Unavailable);
    expect(error.findDetails(RetryInfoSchema)).toMatchObject([{ retryDelay: { seconds: 1n } }]);
  });

  test("states the delay in milliseconds, also as retry pushback", () => {
    const error = connectErrorFrom(new ServiceError("overloaded", undefined, { retryAfterMs: 1234.5 }));
    expect(error.findDetails(RetryInfoSchema)).toMatchObject([
      { retryDelay: { seconds: 1n, nanos: 235_000_000 } },
    ]);
    expect(error.metadata.get("grpc-retry-pushback-ms")).toBe("1235");
  });

  test("tells gRPC libraries not to retry if the delay is long", () => {
    const error = connectErrorFrom(
      new ServiceError("tooManyRequests", undefined, { retryAfterMs: 86_400_000 }),
    );
    expect(error.findDetails(RetryInfoSchema)).toMatchObject([{ retryDelay: { seconds: 86_400n } }]);
    expect(error.metadata.get("grpc-retry-pushback-ms")).toBe("-1");
  });

  test.each(ERROR_KINDS)("%s has RetryInfo, pushback and QuotaFailure only if they apply", (kind) => {
    const { grpc, retryable, quota } = ERRORS[kind];
    const error = connectErrorFrom(new ServiceError(kind));
    const hasPushback = grpc === Code.Unavailable || grpc === Code.ResourceExhausted;
    expect(error.findDetails(RetryInfoSchema)).toHaveLength(Number(retryable));
    const pushback = retryable ? "1000" : "-1";
    expect(error.metadata.get("grpc-retry-pushback-ms")).toBe(hasPushback ? pushback : null);
    expect(error.findDetails(QuotaFailureSchema)).toHaveLength(Number(quota !== undefined));
  });

  test("distinguishes an unsupported compression from a malformed request", () => {
    const raised = new ConnectError(
      'unknown compression "zstd": supported encodings are gzip',
      Code.Unimplemented,
    );
    expect(serviceErrorFrom(raised)).toMatchObject({ kind: "unsupportedEncoding" });
    const other = new ConnectError("protocol error: missing input message", Code.Unimplemented);
    expect(serviceErrorFrom(other)).toMatchObject({ kind: "badRequest" });
  });
});

describe("an error over plain HTTP", () => {
  test("takes its status from the reason of a Connect error", () => {
    const error = connectErrorFrom(serviceErrorFrom(new FaceError("unsupportedFormat", "No JPEG."), "img"));
    expect(httpErrorFrom(error)).toMatchObject({
      status: 415,
      body: { code: "2004", message: "No JPEG.", data: { reason: "UNSUPPORTED_FORMAT", retryable: false } },
    });
  });

  test("names the image in a header", () => {
    const error = connectErrorFrom(serviceErrorFrom(new FaceError("noFace", "No face."), "img_2"));
    expect(httpErrorFrom(error).headers).toEqual({ "x-visage-image": "img_2" });
  });

  test("has Retry-After if the service is overloaded", () => {
    expect(httpErrorFrom(new QueueError("overloaded", "Full."))).toMatchObject({
      status: 503,
      headers: { "retry-after": "1" },
      body: { code: "5001" },
    });
  });

  test("rounds Retry-After up to whole seconds, also after the conversion to a Connect error", () => {
    const retryAfter = (retryAfterMs: number) => {
      const error = new ServiceError("tooManyInFlight", undefined, { retryAfterMs });
      return [error, connectErrorFrom(error)].map((fault) => httpErrorFrom(fault).headers["retry-after"]);
    };
    expect(retryAfter(1)).toEqual(["1", "1"]);
    expect(retryAfter(1001)).toEqual(["2", "2"]);
    expect(retryAfter(65_000)).toEqual(["65", "65"]);
  });

  test("lists the supported methods in Allow", () => {
    const error = new ServiceError("wrongMethod", undefined, { allow: ["POST", "OPTIONS"] });
    expect(httpErrorFrom(error)).toMatchObject({ status: 405, headers: { allow: "POST, OPTIONS" } });
  });

  test("hides the cause of an unexpected error", () => {
    const answer = httpErrorFrom(new Error("secret detail"));
    expect(answer).toMatchObject({ status: 500, body: { code: "5000", message: "Internal error." } });
    expect(JSON.stringify(answer)).not.toContain("secret");
  });
});
