import { byId } from "../site/elements.ts";
import { describeOperation } from "./offer.ts";
import { OPERATIONS, type OperationName } from "./operations.ts";
import { cancelRun } from "./run.ts";
import type { Store } from "./store.ts";

/** What the controls cause. */
export interface ControlActions {
  onRun(): void;
  /** The user has selected another operation. */
  onOperation(): void;
}

/** Binds the operation the button that runs it. */
export function mountControls(store: Store, { onRun, onOperation }: ControlActions): void {
  const form = byId("request", HTMLFormElement);
  const run = byId("run", HTMLButtonElement);
  const mayScale = byId("mayScale", HTMLInputElement);
  const radios = [...document.querySelectorAll<HTMLInputElement>("input[name=operation]")];

  for (const radio of radios) {
    if (!store.state.offer.operations.includes(radio.value as OperationName))
      radio.closest("label")!.remove();
    radio.addEventListener("change", () => {
      if (!radio.checked) return;
      store.update({ operation: radio.value as OperationName, outcome: undefined });
      onOperation();
    });
  }
  mayScale.addEventListener("change", () => {
    // A result would be that of other options.
    cancelRun();
    store.update({ mayScale: mayScale.checked, outcome: undefined });
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    onRun();
  });

  store.subscribe((state) => {
    const { action } = OPERATIONS[state.operation];
    const description = describeOperation(state.operation, state.offer);
    for (const radio of radios) radio.checked = radio.value === state.operation;
    mayScale.checked = state.mayScale;
    const hint = byId("operation-hint", HTMLParagraphElement);
    if (hint.textContent !== description) hint.textContent = description;
    run.textContent = state.isBusy ? busyLabel(state.sentShare) : action;
    // Unlike `disabled`, this keeps the focus.
    run.setAttribute("aria-disabled", String(state.isBusy));
  });
}

/** Shows how much of the request is sent, and the button that cancels it. */
export function mountProgressView(store: Store, onCancel: () => void): void {
  const bar = byId("sent", HTMLProgressElement);
  const cancel = byId("cancel", HTMLButtonElement);
  cancel.addEventListener("click", () => {
    onCancel();
    // The pressed button disappears, so move the focus to the one that remains.
    byId("run", HTMLButtonElement).focus();
  });
  store.subscribe(({ isBusy, sentShare }) => {
    cancel.hidden = !isBusy;
    bar.hidden = !isBusy;
    // Without a value, the bar shows that the service works.
    if (sentShare === undefined || sentShare >= 1) bar.removeAttribute("value");
    else bar.value = sentShare;
  });
}

/** The label of the button that runs an operation, while it runs. */
function busyLabel(sentShare: number | undefined): string {
  if (sentShare === undefined || sentShare >= 1) return "Working…";
  return `Sending… ${Math.floor(100 * sentShare)}%`;
}
