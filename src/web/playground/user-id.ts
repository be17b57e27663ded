import { makeButton } from "../site/elements.ts";
import { openKeyDialog } from "../site/key-control.ts";

/** Asks for the API key, which is missing. */
export { openKeyDialog as askForUserId };

/** Replaces an API key by a fixed number of dots, which hides its length as well. */
export function maskUserId(userId: string): string {
  return userId && "••••••••";
}

/** Creates a button that asks for the API key. */
export function drawUserIdButton(label = "Enter an API key"): HTMLButtonElement {
  return makeButton(label, openKeyDialog);
}
