import PAGE_ERRORS from "../../../gen/page-errors/accounts.json" with { type: "json" };
import { RequestError } from "../site/request-error.ts";
import { plural } from "../site/words.ts";

/** Texts that fit the pages better than those of the service, by code. */
const TEXTS: Readonly<Record<string, { readonly title: string }>> = PAGE_ERRORS;

/** Describes why a call failed, in one or two sentences. */
export function failureText(error: unknown): string {
  if (!(error instanceof RequestError)) return String(error);
  const { code = "", reason, retryAfterSeconds } = error.facts;
  if (reason === "TOO_MANY_REQUESTS")
    return `Too many requests. Try again in ${plural(retryAfterSeconds ?? 1, "second")}.`;
  return TEXTS[code]?.title ?? error.message;
}

/** Whether a call failed because the key is not accepted. */
export function isRejectedKey(error: unknown): boolean {
  return error instanceof RequestError && error.facts.status === 401;
}
