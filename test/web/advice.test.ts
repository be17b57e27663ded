import { describe, expect, test } from "vitest";
import { ERROR_KINDS, ERRORS, type ErrorKind, reasonFromKind } from "../../src/service/error-table.ts";
import { errorText } from "../../src/web/galleries/advice.ts";
import { adviceFor, titleOf } from "../../src/web/playground/advice.ts";
import { RequestError } from "../../src/web/site/request-error.ts";

/** Words that a visitor of the pages need not know. */
const TECHNICAL =
  /header|(?<!API )\bkey\b|token|body|encoding|deadline|bounding|method|path|malformed|internal|x-api/i;

describe("the playground", () => {
  /** It sends no embeddings. */
  const kinds = ERROR_KINDS.filter((kind) => {
    const { operations } = ERRORS[kind];
    return (
      kind !== "modelMismatch" && (operations.length === 0 || operations.includes("FaceAnalysisService"))
    );
  });

  test.each(kinds.map((kind) => [reasonFromKind(kind), ERRORS[kind]] as const))(
    "has advice and a plain title for %s",
    (_, { code, text, retryable, playground }) => {
      const title = titleOf({ code, message: text });
      expect(title).toBe(playground?.title ?? text);
      expect(title).not.toMatch(TECHNICAL);
      expect(title.length).toBeLessThan(60);
      const advice = adviceFor({ code });
      expect(advice).toMatchObject({ text: playground?.text, retry: retryable });
      // The advice goes on from the title instead of repeating it.
      expect(advice.text).not.toContain(title);
    },
  );
});

describe("the galleries page", () => {
  const textFor = (kind: ErrorKind) => {
    const { code, text, retryable } = ERRORS[kind];
    return errorText(new RequestError(text, { kind: "service", code, isRetryable: retryable }));
  };

  test("has advice for every error that only galleries have", () => {
    const own = ERROR_KINDS.filter((kind) => ERRORS[kind].code.startsWith("6"));
    for (const kind of ["galleriesUnavailable" as const, ...own])
      expect(textFor(kind)).toBe(`${ERRORS[kind].text} ${ERRORS[kind].galleries?.text}`);
  });

  test.each(["noUserId", "unknownUser"] as const)("has a plain title for %s", (kind) => {
    expect(ERRORS[kind].text).toMatch(TECHNICAL);
    expect(textFor(kind)).toMatch(/API key/);
    expect(textFor(kind)).not.toMatch(TECHNICAL);
  });
});
