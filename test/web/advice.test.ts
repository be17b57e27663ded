import { expect, test } from "vitest";
import {
  ERRORS,
  type ErrorKind,
  isAccountError,
  isGalleryError,
  reasonFromKind,
} from "../../src/service/error-table.ts";
import { TITLES } from "../../src/web/galleries/advice.ts";
import { ADVICE, titleOf } from "../../src/web/playground/advice.ts";

/** The errors of the playground: it calls only face.v1, which knows neither embeddings nor galleries. */
const KINDS = (Object.keys(ERRORS) as ErrorKind[]).filter(
  (kind) => kind !== "modelMismatch" && !isGalleryError(kind) && !isAccountError(kind),
);

/** Words that a visitor of the pages need not know. */
const TECHNICAL =
  /header|\bkey\b|token|body|encoding|deadline|bounding|method|path|malformed|internal|x-api/i;

test("every error code has advice, with the same retry flag as the error table", () => {
  const expected = KINDS.map((kind) => [ERRORS[kind].code, ERRORS[kind].retryable]);
  const actual = Object.entries(ADVICE).map(([code, { retry }]) => [code, retry]);
  expect(Object.fromEntries(actual)).toEqual(Object.fromEntries(expected));
});

test.each(KINDS.map((kind) => [reasonFromKind(kind), ERRORS[kind]] as const))(
  "%s has a plain title in the playground",
  (_, { code, text }) => {
    const title = titleOf({ code, message: text });
    expect(title).not.toMatch(TECHNICAL);
    expect(title.length).toBeLessThan(60);
    // The advice goes on from the title instead of repeating it.
    expect(ADVICE[code]!.text).not.toContain(title);
  },
);

test.each(["noUserId", "unknownUser"] as const)("the galleries page has a plain title for %s", (kind) => {
  expect(ERRORS[kind].text).toMatch(TECHNICAL);
  expect(TITLES[ERRORS[kind].code]).toMatch(/user id/);
  expect(TITLES[ERRORS[kind].code]).not.toMatch(TECHNICAL);
});
