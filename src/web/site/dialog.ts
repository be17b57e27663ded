import { make, makeButton, reporting } from "./elements.ts";

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
  /** The label of the button that closes the dialog. Nothing else closes it, and leaving the page asks first. */
  readonly acknowledgement?: string;
  readonly onClose?: () => void;
}

/** Writes the error of work for the user. */
type Describe = (error: unknown) => string;

let dialogs = 0;

/** Opens a dialog above the page. It removes itself when it is closed. */
export function openDialog(options: DialogOptions, describe: Describe = String): HTMLDialogElement {
  const { title, content, submit, buttons = [], isWide, acknowledgement, onClose } = options;
  const id = `dialog-${++dialogs}`;
  const problem = make("p", { class: "problem", role: "alert" });
  const close = makeButton(acknowledgement ?? (submit ? "Cancel" : "Close"), () => dialog.close());
  const actions = make("div", { class: "actions" });
  const top = make("div", { class: "panel-top" }, make("h2", { id: `${id}-title` }, title));
  const form = make("form", { class: "form" }, top, ...content, problem, actions);
  const dialog = make("dialog", { id, class: isWide && "wide", "aria-labelledby": `${id}-title` }, form);
  if (submit) {
    const style = submit.isDestructive ? "danger primary" : "primary";
    const button = make("button", { type: "submit", class: style }, submit.label);
    actions.append(button);
    const run = reporting(async () => {
      if (!(await runOnce(button, problem, submit.run, describe))) return;
      dialog.close();
      submit.onDone?.();
    });
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      run();
    });
  }
  actions.append(...buttons);
  // A long dialog has it where it is visible at once.
  (isWide ? top : actions).append(close);
  dialog.addEventListener("close", () => {
    dialog.remove();
    restoreFocus();
    onClose?.();
  });
  if (acknowledgement !== undefined) keepOpen(dialog);
  document.body.append(dialog);
  dialog.showModal();
  // The safe answer is the one that Enter gives.
  if (submit?.isDestructive) close.focus();
  return dialog;
}

/** Lets nothing but its button close a dialog. */
function keepOpen(dialog: HTMLDialogElement): void {
  // Browsers without the attribute send an event instead, which the others do not let a page refuse twice.
  dialog.setAttribute("closedby", "none");
  dialog.addEventListener("cancel", (event) => event.preventDefault());
  const closed = new AbortController();
  addEventListener("beforeunload", (event) => event.preventDefault(), { signal: closed.signal });
  dialog.addEventListener("close", () => closed.abort());
}

/** Keeps the focus near, if the change removed the element that had it. */
function restoreFocus(): void {
  if (document.activeElement !== document.body) return;
  const lastDialog = [...document.querySelectorAll("dialog[open]")].at(-1);
  const place = lastDialog?.querySelector<HTMLElement>("button") ?? document.querySelector("main [tabindex]");
  if (place instanceof HTMLElement) place.focus();
}

/** Runs work with its button disabled. Shows why it failed, and returns whether it did not. */
export async function runOnce(
  button: HTMLButtonElement,
  problem: HTMLElement,
  work: () => Promise<void>,
  describe: Describe,
): Promise<boolean> {
  if (button.disabled) return false;
  button.disabled = true;
  problem.textContent = "";
  try {
    await work();
    return true;
  } catch (error) {
    problem.textContent = describe(error);
    return false;
  } finally {
    button.disabled = false;
  }
}

/** What a dialog asks before something that cannot be undone. */
interface Question {
  /** One short question, such as "Delete Ann?". */
  readonly title: string;
  /** What happens then. */
  readonly text: string;
  /** Label of the button that agrees. */
  readonly action: string;
}

/** Asks the user. Resolves to false if the dialog is closed in any other way than by the button that agrees. */
export function confirmAction({ title, text, action }: Question): Promise<boolean> {
  return new Promise((resolve) => {
    let isAgreed = false;
    const agree = async () => {
      isAgreed = true;
    };
    openDialog({
      title,
      content: [make("p", {}, text)],
      submit: { label: action, isDestructive: true, run: agree },
      onClose: () => resolve(isAgreed),
    });
  });
}
