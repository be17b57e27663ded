import PAGE_ERRORS from "../../../gen/page-errors/galleries.json" with { type: "json" };
import type { RequestError } from "../site/request-error.ts";

/** What the page says about an error, by its code. Errors without an entry explain themselves. */
const TEXTS: Readonly<Record<string, { readonly title?: string; readonly text?: string }>> = PAGE_ERRORS;

/** What happened, and what the user can do. */
export function errorText({ message, facts }: RequestError): string {
  const { title = message, text = adviceWithoutCode(facts) } = TEXTS[facts.code ?? ""] ?? {};
  return text ? `${title} ${text}` : title;
}

/** What to do about an error that the service did not write. */
function adviceWithoutCode({ kind, status }: RequestError["facts"]): string {
  if (kind === "unreachable") return "Check that you are connected to it.";
  if (kind !== "proxy") return "";
  return status === 413 ? "Make the file smaller." : "The service may be restarting. Try again shortly.";
}
