import { describe, expect, test } from "vitest";
import { httpErrorFrom, statusJsonFrom } from "../../src/service/error-responses.ts";
import { ServiceError } from "../../src/service/service-error.ts";
import { errorFromJson, errorFromProxy, isErrorEnvelope } from "../../src/web/site/request-error.ts";

/** The head of a response with a status and headers. */
function head(status: number, headers: Record<string, string> = {}) {
  return { status, header: (name: string) => headers[name] ?? null };
}

describe("an error of the service", () => {
  const error = new ServiceError("tooManyRequests", undefined, { retryAfterMs: 2_500 });
  const { status, headers, body } = httpErrorFrom(error);

  test.each([
    ["the envelope of face.v1", body],
    ["a google.rpc.Status", statusJsonFrom(error)],
  ])("is read from %s", (_, json) => {
    const { message, facts } = errorFromJson(head(status, { ...headers, "x-request-id": "r-1" }), json);
    expect(message).toBe(body.message);
    expect(facts).toMatchObject({
      kind: "service",
      status: 429,
      code: body.code,
      reason: body.data.reason,
      isRetryable: true,
      retryAfterSeconds: 3,
      requestId: "r-1",
    });
  });

  test("names the image that caused it", () => {
    const { facts } = errorFromJson(head(422, { "x-visage-image": "img_2" }), body);
    expect(facts.imageField).toBe("img_2");
  });

  test("with HTTP status 200, in legacy mode, is recognized", () => {
    expect(isErrorEnvelope(body)).toBe(true);
    expect(isErrorEnvelope({ success: true, data: {} })).toBe(false);
    expect(isErrorEnvelope({ faces: [] })).toBe(false);
  });

  test.each([[null], ["text"], [[]], [{}], [{ details: [] }]])(
    "that is unknown JSON has a message: %j",
    (json) => {
      expect(errorFromJson(head(500), json).message).toBe("The service answered 500 Internal Server Error.");
    },
  );
});

describe("an answer of a proxy", () => {
  test.each([
    [502, "The proxy answered 502 Bad Gateway.", true],
    [413, "The proxy answered 413 Content Too Large.", false],
    [599, "The proxy answered 599.", true],
    [200, "The proxy answered 200 with a page instead of a result.", false],
  ])("is reported with its status %i", (status, message, isRetryable) => {
    const error = errorFromProxy(head(status));
    expect([error.message, error.facts.isRetryable]).toEqual([message, isRetryable]);
  });

  test("may say when to retry, in seconds or as a date", () => {
    const secondsOf = (value: string) =>
      errorFromProxy(head(503, { "retry-after": value })).facts.retryAfterSeconds;
    expect(secondsOf("120")).toBe(120);
    const inTenMinutes = new Date(Date.now() + 600_000).toUTCString();
    expect(Math.abs(secondsOf(inTenMinutes)! - 600)).toBeLessThan(3);
    expect(secondsOf("Thu, 01 Jan 1970 00:00:00 GMT")).toBe(0);
    expect(secondsOf("soon")).toBeUndefined();
  });
});
