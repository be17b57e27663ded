import { byId } from "./elements.ts";
import type { Store } from "./store.ts";

const KEY = "user_id";

/** The user id that this tab knows. */
export function storedUserId(): string {
  return sessionStorage.getItem(KEY) ?? "";
}

/** A few dots for any id, so that neither its letters nor its length show. */
export function masked(userId: string): string {
  return userId && "••••••••";
}

/** Lets a person give the user id, which stays in this tab, and show or hide it. */
export function openUserId(store: Store): void {
  const input = byId("user-id", HTMLInputElement);
  const reveal = byId("reveal", HTMLButtonElement);
  input.value = store.state.userId;
  input.addEventListener("input", () => {
    const userId = input.value.trim();
    sessionStorage.setItem(KEY, userId);
    input.removeAttribute("aria-invalid");
    store.change({ userId });
  });
  reveal.addEventListener("click", () => store.change({ isRevealed: !store.state.isRevealed }));
  store.watch(({ isRevealed }) => {
    input.type = isRevealed ? "text" : "password";
    reveal.setAttribute("aria-pressed", String(isRevealed));
  });
}
