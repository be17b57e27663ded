import { makeButton } from "../site/elements.ts";
import { openKeyDialog } from "../site/key-control.ts";

/** Replaces an API key by a fixed number of dots, which hides its length as well. */
export function maskKey(apiKey: string): string {
  return apiKey && "••••••••";
}

/** Creates a button that asks for the API key. */
export function drawKeyButton(label = "Enter an API key"): HTMLButtonElement {
  return makeButton(label, openKeyDialog);
}
