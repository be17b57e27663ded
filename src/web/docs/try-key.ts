import { make } from "../site/elements.ts";
import { readUserId, storeUserId } from "../site/session.ts";
import { InputError } from "./try-input-error.ts";

/** The field with the key of the session. */
export interface KeyField {
  readonly element: HTMLElement;
  /** Stores the key for the session and for all forms, and returns it. Throws InputError if it cannot be a key. */
  read(): string;
}

/** Creates the field of the key in a form. */
export function createKeyField(id: string): KeyField {
  const input = make("input", {
    id,
    class: "try-key",
    type: "password",
    autocomplete: "off",
    spellcheck: "false",
  });
  input.value = readUserId();
  return {
    element: make("div", { class: "try-field" }, make("label", { for: id }, "User id (API key)"), input),
    read: () => {
      const key = input.value.trim();
      // A header can have no other characters.
      if (!/^[\x21-\x7e]*$/.test(key))
        throw new InputError("The user id has spaces or characters other than ASCII.");
      storeUserId(key);
      for (const other of document.querySelectorAll<HTMLInputElement>(".try-key")) other.value = key;
      return key;
    },
  };
}
