import { Code, ConnectError } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import {
  BadRequestSchema,
  ErrorInfoSchema,
  QuotaFailureSchema,
  RetryInfoSchema,
} from "../../gen/ts/google/rpc/error_details_pb.ts";
import { FaceError } from "../../src/core/index.ts";
import { ERRORS, type ErrorKind } from "../../src/service/error-table.ts";
import {
  connectErrorFrom,
  httpAnswerFrom,
  ServiceError,
  serviceErrorFrom,
} from "../../src/service/service-error.ts";
import { QueueError } from "../../src/workers/pool.ts";

const KINDS = Object.keys(ERRORS) as ErrorKind[];

describe("the table of errors", () => {
  test("gives every kind a code of its own", () => {
    expect(new Set(KINDS.map((kind) => ERRORS[kind].code)).size).toBe(KINDS.length);
  });

  test.each(KINDS)("%s has a text that grpc-js shows as it is", (kind) => {
    expect(ERRORS[kind].text).toMatch(/^[A-Z][\w .']+$/);
  });
});

describe("an error over gRPC", () => {
  test("tells which image, at which stage, and whether a retry helps", () => {
    const box = { x1: 1, y1: 2, x2: 3, y2: 4 };
    const error = connectErrorFrom(
      serviceErrorFrom(new FaceError("noFaceInBox", "No face.", { box }), "img_2"),
    );
    expect(error).toMatchObject({ code: Code.FailedPrecondition, rawMessage: "No face." });
    expect(error.findDetails(ErrorInfoSchema)).toMatchObject([
      {
        reason: "NO_FACE_IN_BOX",
        domain: "visage",
        metadata: { code: "3002", image: "img_2", stage: "find", retryable: "false", box: "1,2,3,4" },
      },
    ]);
  });

  test("names the field of a bad request", () => {
    const error = connectErrorFrom(serviceErrorFrom(new FaceError("unreadableImage", "Broken."), "img_1"));
    expect(error.findDetails(BadRequestSchema)).toMatchObject([
      { fieldViolations: [{ field: "img_1", description: "Broken." }] },
    ]);
  });

  test("says when to try again", () => {
    const error = connectErrorFrom(serviceErrorFrom(new QueueError("overloaded", "Full.")));
    expect(error.code).toBe(Code.Unavailable);
    expect(error.findDetails(RetryInfoSchema)).toMatchObject([{ retryDelay: { seconds: 1n } }]);
  });

  test("states the delay in milliseconds, and as gRPC's retry pushback", () => {
    const error = connectErrorFrom(new ServiceError("overloaded", undefined, { retryAfterMs: 1234.5 }));
    expect(error.findDetails(RetryInfoSchema)).toMatchObject([
      { retryDelay: { seconds: 1n, nanos: 235_000_000 } },
    ]);
    expect(error.metadata.get("grpc-retry-pushback-ms")).toBe("1235");
  });

  test("keeps gRPC libraries from waiting for the next month", () => {
    const error = connectErrorFrom(new ServiceError("quotaSpent", undefined, { retryAfterSeconds: 86_400 }));
    expect(error.findDetails(RetryInfoSchema)).toMatchObject([{ retryDelay: { seconds: 86_400n } }]);
    expect(error.metadata.get("grpc-retry-pushback-ms")).toBe("-1");
  });

  test.each(KINDS)("%s has RetryInfo, pushback and QuotaFailure only where they apply", (kind) => {
    const { grpc, retry, http } = ERRORS[kind];
    const error = connectErrorFrom(new ServiceError(kind));
    const hasPushback = retry && (grpc === Code.Unavailable || grpc === Code.ResourceExhausted);
    expect(error.findDetails(RetryInfoSchema)).toHaveLength(Number(retry));
    expect(error.metadata.has("grpc-retry-pushback-ms")).toBe(hasPushback);
    expect(error.findDetails(QuotaFailureSchema)).toHaveLength(Number(http === 429));
  });

  test("a compression that is not supported is named as such", () => {
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
  test("takes its status from the error's reason", () => {
    const told = connectErrorFrom(serviceErrorFrom(new FaceError("unsupportedFormat", "No JPEG."), "img"));
    expect(httpAnswerFrom(told)).toMatchObject({
      status: 415,
      body: { code: "2004", message: "No JPEG.", data: { reason: "UNSUPPORTED_FORMAT", retryable: false } },
    });
  });

  test("names the image at fault in a header", () => {
    const told = connectErrorFrom(serviceErrorFrom(new FaceError("noFace", "No face."), "img_2"));
    expect(httpAnswerFrom(told).headers).toEqual({ "x-visage-image": "img_2" });
  });

  test("has Retry-After where a retry helps", () => {
    expect(httpAnswerFrom(new QueueError("overloaded", "Full."))).toMatchObject({
      status: 503,
      headers: { "retry-after": "1" },
      body: { code: "5001" },
    });
  });

  test("rounds Retry-After up to whole seconds, at least one, also behind the in-process call", () => {
    const delayOf = (retryAfterMs: number) => {
      const error = new ServiceError("tooManyInFlight", undefined, { retryAfterMs });
      return [error, connectErrorFrom(error)].map((fault) => httpAnswerFrom(fault).headers["retry-after"]);
    };
    expect(delayOf(1)).toEqual(["1", "1"]);
    expect(delayOf(1001)).toEqual(["2", "2"]);
    expect(delayOf(65_000)).toEqual(["65", "65"]);
  });

  test("tells nothing of a fault of our own", () => {
    const answer = httpAnswerFrom(new Error("secret of the house"));
    expect(answer).toMatchObject({ status: 500, body: { code: "5000", message: "Internal error." } });
    expect(JSON.stringify(answer)).not.toContain("secret");
  });
});
