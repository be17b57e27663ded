import { openDialog } from "./dialog.ts";
import { byId, make, makeButton, partOf } from "./elements.ts";
import { SENDABLE_KEY } from "./request.ts";
import { forgetInBrowser, isKeyRemembered, onKeyChange, readKey, storeKey } from "./session.ts";

/** Binds the button of the header that says whether there is an API key, and opens the dialog in which it is changed. */
export function mountKeyControl(): void {
  const button = byId("api-key", HTMLButtonElement);
  const state = partOf(button, "state", HTMLSpanElement);
  const show = () => {
    const isSet = readKey() !== "";
    state.textContent = isSet ? "set" : "not set";
    state.className = isSet ? "good" : "";
  };
  show();
  onKeyChange(() => {
    // Nothing of an account stays in a page after signing out.
    if (readKey() === "") location.reload();
    show();
  });
  button.disabled = false;
  button.addEventListener("click", openKeyDialog);
}

/** Opens the dialog in which the API key is entered, unless it is open. */
export function openKeyDialog(): void {
  const key = readKey();
  const input = make("input", {
    id: "api-key-input",
    class: "secret",
    type: "password",
    autocomplete: "off",
    autocapitalize: "off",
    spellcheck: "false",
    "aria-describedby": "api-key-hint",
  });
  if (document.getElementById(input.id)) return;
  input.value = key;
  const reveal = makeButton("Reveal", () => {
    const isHidden = input.type === "password";
    input.type = isHidden ? "text" : "password";
    reveal.setAttribute("aria-pressed", String(isHidden));
  });
  reveal.setAttribute("aria-pressed", "false");
  const remember = make("input", { type: "checkbox" });
  remember.checked = isKeyRemembered();
  const dialog = openDialog(
    {
      title: "Your API key",
      content: [
        make(
          "div",
          { class: "field" },
          make("label", { for: input.id }, "API key"),
          make("div", { class: "joined" }, input, reveal),
          make(
            "p",
            { class: "hint", id: "api-key-hint" },
            "One of the keys of your account. The service prints the key of a trial user when it starts.",
          ),
        ),
        make(
          "div",
          { class: "options" },
          make(
            "label",
            {},
            remember,
            make(
              "span",
              {},
              "Remember in this browser ",
              make("small", {}, "Otherwise this tab keeps it until it is closed"),
            ),
          ),
        ),
      ],
      submit: {
        label: "Use key",
        run: async () => checkKey(input),
        onDone: () => {
          if (isKeyRemembered() && !remember.checked) forgetInBrowser();
          storeKey(input.value.trim(), remember.checked);
        },
      },
      buttons: key ? [makeButton("Sign out", () => signOut(dialog))] : [],
    },
    (error) => (error as Error).message,
  );
  // A key that is wrong is replaced by typing or pasting.
  input.select();
}

/** Forgets the key in the tab and in the browser. */
function signOut(dialog: HTMLDialogElement): void {
  dialog.close();
  storeKey("");
}

/** Throws if a field has no key that can be sent. */
function checkKey(input: HTMLInputElement): void {
  const key = input.value.trim();
  if (key && SENDABLE_KEY.test(key)) return;
  input.ariaInvalid = "true";
  input.focus();
  throw new Error(key ? "The API key has spaces or characters other than ASCII." : "Enter an API key.");
}
