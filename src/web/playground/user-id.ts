import { byId } from "./elements.ts";
import type { Store } from "./store.ts";

const KEY = "user_id";

/** Reads the user id of this browser tab; empty if there is none. */
export function readStoredUserId(): string {
  return sessionStorage.getItem(KEY) ?? "";
}

/** Replaces a user id by a fixed number of dots, which hides its length as well. */
export function maskUserId(userId: string): string {
  return userId && "••••••••";
}

/** Binds the user id field. The id is stored for this tab only and hidden until the user reveals it. */
export function mountUserIdField(store: Store): void {
  const input = byId("user-id", HTMLInputElement);
  const reveal = byId("reveal", HTMLButtonElement);
  input.value = store.state.userId;
  input.addEventListener("input", () => {
    const userId = input.value.trim();
    sessionStorage.setItem(KEY, userId);
    input.removeAttribute("aria-invalid");
    store.update({ userId });
  });
  reveal.addEventListener("click", () => store.update({ isUserIdVisible: !store.state.isUserIdVisible }));
  store.subscribe(({ isUserIdVisible }) => {
    input.type = isUserIdVisible ? "text" : "password";
    reveal.setAttribute("aria-pressed", String(isUserIdVisible));
  });
}
