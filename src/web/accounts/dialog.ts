import { make } from "../site/elements.ts";
import { failureText } from "./failure.ts";

/** A dialog that asks, changes something, or shows something once. */
export interface DialogOptions {
  readonly title: string;
  readonly content: readonly (Node | string)[];
  /** The button that does it; without it, the dialog can only be closed. */
  readonly submit?: {
    readonly label: string;
    readonly isDestructive?: boolean;
    /** The dialog stays open with a message if this rejects. */
    readonly run: () => Promise<void>;
    /** Called when it is done and the dialog is closed. */
    readonly onDone?: () => void;
  };
  /** Buttons before the one that closes the dialog. */
  readonly buttons?: readonly HTMLButtonElement[];
  readonly isWide?: boolean;
  readonly onClose?: () => void;
}

let dialogs = 0;

/** Opens a dialog above the page. It removes itself when it is closed. */
export function openDialog(options: DialogOptions): HTMLDialogElement {
  const { title, content, submit, buttons = [], onClose } = options;
  const id = `dialog-${++dialogs}`;
  const problem = make("p", { class: "problem", role: "alert" });
  const close = make("button", { type: "button" }, submit ? "Cancel" : "Close");
  const actions = make("div", { class: "actions" });
  const form = make(
    "form",
    { class: "form" },
    make("div", { class: "panel-top" }, make("h2", { id: `${id}-title` }, title)),
    ...content,
    problem,
    actions,
  );
  const dialog = make(
    "dialog",
    { id, class: options.isWide && "wide", "aria-labelledby": `${id}-title` },
    form,
  );
  if (submit) {
    const style = submit.isDestructive ? "danger primary" : "primary";
    const button = make("button", { type: "submit", class: style }, submit.label);
    actions.append(button);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      runOnce(button, problem, submit.run)
        .then((isDone) => {
          if (!isDone) return;
          dialog.close();
          submit.onDone?.();
        })
        .catch(reportError);
    });
  }
  actions.append(...buttons);
  // A long dialog has it where it is visible at once.
  if (options.isWide) form.firstElementChild!.append(close);
  else actions.append(close);
  close.addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => {
    dialog.remove();
    restoreFocus();
    onClose?.();
  });
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/** Keeps the focus near, if the change removed the element that had it. */
function restoreFocus(): void {
  if (document.activeElement !== document.body) return;
  const lastDialog = [...document.querySelectorAll("dialog")].at(-1);
  const place = lastDialog?.querySelector<HTMLElement>("button") ?? document.querySelector("main [tabindex]");
  if (place instanceof HTMLElement) place.focus();
}

/** Runs work with its button disabled. Shows why it failed, and returns whether it did not. */
export async function runOnce(
  button: HTMLButtonElement,
  problem: HTMLElement,
  work: () => Promise<void>,
): Promise<boolean> {
  if (button.disabled) return false;
  button.disabled = true;
  problem.textContent = "";
  try {
    await work();
    return true;
  } catch (error) {
    problem.textContent = failureText(error);
    return false;
  } finally {
    button.disabled = false;
  }
}
