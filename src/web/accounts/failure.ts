import { RequestError } from "../site/request-error.ts";
import { plural } from "../site/words.ts";

/** Texts that fit the pages better than those of the service, by reason. */
const TEXTS: Readonly<Record<string, string>> = {
  NO_USER_ID: "Enter your user id.",
  UNKNOWN_USER:
    "This user id is unknown, expired or disabled. Check it for typing errors, or ask the operator of this service.",
  NO_ADMIN_KEY: "This is not the admin key of this service.",
  NO_SUCH_PATH: "This service has no admin key. Set VISAGE_ADMIN_KEY and restart it.",
  TOO_MANY_KEYS: "There are two keys already. Delete one of them first, or let the other keys end at once.",
};

/** Describes why a call failed, in one or two sentences. */
export function failureText(error: unknown): string {
  if (!(error instanceof RequestError)) return String(error);
  const { reason = "", retryAfterSeconds } = error.facts;
  if (reason === "TOO_MANY_REQUESTS")
    return `Too many requests. Try again in ${plural(retryAfterSeconds ?? 1, "second")}.`;
  return TEXTS[reason] ?? error.message;
}

/** Whether a call failed because the key is not accepted. */
export function isRejectedKey(error: unknown): boolean {
  return error instanceof RequestError && error.facts.status === 401;
}
