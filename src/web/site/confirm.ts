import { make } from "./elements.ts";

/** What a dialog asks before something that cannot be undone. */
export interface Question {
  /** One short question, such as "Delete Ann?". */
  readonly title: string;
  /** What happens then. */
  readonly text: string;
  /** Label of the button that agrees. */
  readonly action: string;
}

/** Asks the user. Resolves to false if the dialog is closed in any other way than by the button that agrees. */
export function confirmAction({ title, text, action }: Question): Promise<boolean> {
  const cancel = make("button", { type: "button" }, "Cancel");
  const agree = make("button", { type: "button", class: "danger primary" }, action);
  const dialog = make(
    "dialog",
    { class: "question", "aria-labelledby": "question-title" },
    make("h2", { id: "question-title" }, title),
    make("p", {}, text),
    make("div", { class: "actions" }, agree, cancel),
  );
  document.body.append(dialog);
  return new Promise((resolve) => {
    let isAgreed = false;
    agree.addEventListener("click", () => {
      isAgreed = true;
      dialog.close();
    });
    cancel.addEventListener("click", () => dialog.close());
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(isAgreed);
    });
    dialog.showModal();
    // The safe answer is the one that Enter gives.
    cancel.focus();
  });
}
