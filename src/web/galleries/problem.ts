import { makeButton } from "../site/elements.ts";
import { RequestError } from "../site/request-error.ts";
import { failureText, isCancelled } from "./failure.ts";

/** Shows an error, with a button if it can help to try again. */
export function showProblem(place: HTMLElement, error: unknown, onRetry?: () => unknown): void {
  const isRetryable = error instanceof RequestError && error.facts.isRetryable && !isCancelled(error);
  const retry = onRetry && isRetryable ? [" ", makeButton("Try again", onRetry, { class: "small" })] : [];
  place.replaceChildren(failureText(error), ...retry);
}
