import { byId } from "../site/elements.ts";
import { OPERATIONS, type OperationName } from "./operations.ts";
import type { Store } from "./store.ts";

/** Binds the operation, its options and the button that runs it. */
export function mountControls(store: Store, onRun: () => void): void {
  const form = byId("request", HTMLFormElement);
  const run = byId("run", HTMLButtonElement);
  const detect = byId("detect", HTMLInputElement);
  const quality = byId("quality", HTMLInputElement);
  const radios = [...form.querySelectorAll<HTMLInputElement>("input[name=operation]")];

  for (const radio of radios)
    radio.addEventListener("change", () => {
      if (radio.checked) store.update({ operation: radio.value as OperationName, outcome: undefined });
    });
  detect.addEventListener("change", () => store.update({ detect: detect.checked }));
  quality.addEventListener("change", () => store.update({ quality: quality.checked }));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    onRun();
  });

  store.subscribe((state) => {
    const { hasQuality, action } = OPERATIONS[state.operation];
    for (const radio of radios) radio.checked = radio.value === state.operation;
    detect.checked = state.detect;
    quality.checked = state.quality;
    byId("quality-option", HTMLLabelElement).hidden = !hasQuality;
    run.textContent = state.isBusy ? "Working…" : action;
    // Unlike `disabled`, this keeps the focus.
    run.setAttribute("aria-disabled", String(state.isBusy));
  });
}
