import { Code } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import {
  BadRequestSchema,
  ErrorInfoSchema,
  RetryInfoSchema,
} from "../../gen/ts/google/rpc/error_details_pb.ts";
import { FaceError, QueueError } from "../../src/core/index.ts";
import { connectErrorFrom, httpAnswerFrom, serviceErrorFrom } from "../../src/service/service-error.ts";

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
});

describe("an error over plain HTTP", () => {
  test("takes its status from the error's reason", () => {
    const told = connectErrorFrom(serviceErrorFrom(new FaceError("unsupportedFormat", "No JPEG."), "img"));
    expect(httpAnswerFrom(told)).toMatchObject({
      status: 415,
      body: { code: "2004", message: "No JPEG.", data: {} },
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

  test("tells nothing of a fault of our own", () => {
    const answer = httpAnswerFrom(new Error("secret of the house"));
    expect(answer).toMatchObject({ status: 500, body: { code: "5000", message: "Internal error." } });
    expect(JSON.stringify(answer)).not.toContain("secret");
  });
});
