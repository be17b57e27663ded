import { byId } from "../site/elements.ts";

/** The field of a key, with a button that reveals it. */
export interface SecretField {
  setValue(key: string): void;
  /** Shows a problem, and whether the key is at fault. Empty text removes it. */
  setProblem(text: string, isInvalid?: boolean): void;
}

/** What the field asks for. */
export interface SecretFieldOptions {
  /** As in the label of the field. */
  readonly noun: "user id" | "admin key";
  readonly onSubmit: (key: string) => Promise<void>;
}

/** Binds the form `#sign-in` with its field `#key`. An empty key is not submitted. */
export function mountSecretField({ noun, onSubmit }: SecretFieldOptions): SecretField {
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
  byId("sign-in", HTMLFormElement).addEventListener("submit", (event) => {
    event.preventDefault();
    const key = input.value.trim();
    // A header cannot carry other characters.
    if (!/^[\x21-\x7e]+$/.test(key)) {
      const problemText = key
        ? `The ${noun} has spaces or characters other than ASCII.`
        : `Enter the ${noun}.`;
      setProblem(problemText, true);
      input.focus();
      return;
    }
    setProblem("");
    onSubmit(key).catch(reportError);
  });
  return {
    setValue: (key) => {
      input.value = key;
    },
    setProblem,
  };
}
