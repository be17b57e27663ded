import { byId, makeButton } from "../site/elements.ts";
import { storeUserId } from "../site/session.ts";
import type { Store } from "./store.ts";

/** Replaces a user id by a fixed number of dots, which hides its length as well. */
export function maskUserId(userId: string): string {
  return userId && "••••••••";
}

/** Moves the focus to the user id, which is missing. */
export function askForUserId(): void {
  byId("user-id", HTMLInputElement).setAttribute("aria-invalid", "true");
  focusUserId();
}

/** Creates a button that moves the focus to the user id. */
export function drawUserIdButton(label = "Enter a user id"): HTMLButtonElement {
  return makeButton(label, focusUserId);
}

function focusUserId(): void {
  const input = byId("user-id", HTMLInputElement);
  input.focus({ preventScroll: true });
  // With the margin of its style, unlike the scrolling by the focus, which leaves it at the edge of the window.
  input.scrollIntoView({ block: "nearest" });
  // An id that is wrong is replaced by typing or pasting.
  input.select();
}

/** Binds the user id field. The id is stored for this tab only and hidden until the user reveals it. */
export function mountUserIdField(store: Store): void {
  const input = byId("user-id", HTMLInputElement);
  const reveal = byId("reveal", HTMLButtonElement);
  input.value = store.state.userId;
  input.addEventListener("input", () => {
    const userId = input.value.trim();
    storeUserId(userId);
    input.removeAttribute("aria-invalid");
    // An error may be about the old id.
    const { outcome } = store.state;
    store.update({ userId, outcome: outcome?.isSuccess ? outcome : undefined });
  });
  reveal.addEventListener("click", () => store.update({ isUserIdVisible: !store.state.isUserIdVisible }));
  store.subscribe(({ isUserIdVisible }) => {
    input.type = isUserIdVisible ? "text" : "password";
    reveal.setAttribute("aria-pressed", String(isUserIdVisible));
  });
}
