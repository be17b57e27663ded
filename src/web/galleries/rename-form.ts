import { runOnce } from "../site/dialog.ts";
import { make, makeButton, reporting } from "../site/elements.ts";
import { failureText } from "./failure.ts";

/** What a form renames. */
export interface Rename {
  readonly label: string;
  readonly name: string;
  /** Stores the new name. Throws RequestError. */
  save(name: string): Promise<void>;
  /** Called after the name is saved, or when the user changes nothing. */
  onEnd(isSaved: boolean): void;
}

/** Creates a form for a new name, with the old one in it. Focus it with `focusField`. */
export function createRenameForm({ label, name, save, onEnd }: Rename): HTMLFormElement {
  const input = make("input", { type: "text", value: name, maxlength: 256, "aria-label": label });
  const cancel = makeButton("Cancel", () => onEnd(false));
  const problem = make("p", { class: "problem", role: "alert" });
  const submit = make("button", { type: "submit" }, "Save");
  const form = make("form", { class: "rename", novalidate: true }, input, submit, cancel, problem);
  form.addEventListener("keydown", ({ key }) => {
    if (key === "Escape") onEnd(false);
  });
  const submitName = reporting(async () => {
    const store = () => save(input.value.trim());
    if (await runOnce(submit, problem, store, failureText)) onEnd(true);
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    submitName();
  });
  return form;
}

/** Focuses the field of a rename form that is in the page. */
export function focusField(form: HTMLFormElement): void {
  const input = form.querySelector("input");
  input?.focus();
  input?.select();
}
