import { byId, reporting } from "../site/elements.ts";
import { SENDABLE_KEY } from "../site/request.ts";

/** Binds the form `#sign-in`, its field `#key` and the button that reveals it. An empty key is not submitted. */
export function mountKeyField(onSubmit: (key: string) => Promise<void>) {
  const input = byId("key", HTMLInputElement);
  const reveal = byId("reveal", HTMLButtonElement);
  const problem = byId("key-problem", HTMLParagraphElement);
  const setProblem = (text: string, isInvalid = false) => {
    problem.textContent = text;
    input.ariaInvalid = isInvalid ? "true" : null;
  };
  reveal.addEventListener("click", () => {
    const isHidden = input.type === "password";
    input.type = isHidden ? "text" : "password";
    reveal.setAttribute("aria-pressed", String(isHidden));
  });
  const submit = reporting(onSubmit);
  byId("sign-in", HTMLFormElement).addEventListener("submit", (event) => {
    event.preventDefault();
    const key = input.value.trim();
    const isSendable = SENDABLE_KEY.test(key);
    if (key && isSendable) {
      setProblem("");
      return submit(key);
    }
    setProblem(
      isSendable ? "Enter the admin key." : "The admin key has spaces or characters other than ASCII.",
      true,
    );
    input.focus();
  });
  return {
    setValue: (key: string) => {
      input.value = key;
    },
    /** Shows a problem, and whether the key is at fault. Empty text removes it. */
    setProblem,
  };
}
