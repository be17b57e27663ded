import { make } from "../site/elements.ts";
import { SENDABLE_KEY } from "../site/request.ts";
import { readUserId, storeUserId } from "../site/session.ts";
import { InputError } from "./try-fields.ts";

/** Creates the field of the session's key in a form. */
export function createKeyField(id: string) {
  const input = make("input", {
    id,
    class: "try-key",
    type: "password",
    autocomplete: "off",
    spellcheck: "false",
  });
  input.value = readUserId();
  return {
    element: make("div", { class: "field" }, make("label", { for: id }, "API key"), input),
    /** Stores the key for the session and for all forms, and returns it. Throws InputError if it cannot be a key. */
    read: () => {
      const key = input.value.trim();
      if (!SENDABLE_KEY.test(key))
        throw new InputError("The API key has spaces or characters other than ASCII.");
      storeUserId(key);
      for (const other of document.querySelectorAll<HTMLInputElement>(".try-key")) other.value = key;
      return key;
    },
  };
}
