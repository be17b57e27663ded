import { byId } from "./elements.ts";
import { readUserId, storeUserId } from "./session.ts";

/** Binds the form of `user-id.html`, which shows and stores the user id of the session. */
export function mountUserIdForm(onChange: () => void): void {
  const input = byId("user-id", HTMLInputElement);
  input.value = readUserId();
  byId("user-id-form", HTMLFormElement).addEventListener("submit", (event) => {
    event.preventDefault();
    storeUserId(input.value.trim());
    onChange();
  });
}
