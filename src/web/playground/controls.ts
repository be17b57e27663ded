import { byId } from "./elements.ts";
import { OPERATIONS, type OperationName } from "./operations.ts";
import type { Store } from "./store.ts";

/** Binds the choice of the operation, its options and the button that runs it. */
export function openControls(store: Store, onRun: () => void): void {
  const form = byId("request", HTMLFormElement);
  const run = byId("run", HTMLButtonElement);
  const detect = byId("detect", HTMLInputElement);
  const quality = byId("quality", HTMLInputElement);
  const radios = [...form.querySelectorAll<HTMLInputElement>("input[name=operation]")];

  for (const radio of radios)
    radio.addEventListener("change", () => {
      if (radio.checked) store.change({ operation: radio.value as OperationName, outcome: undefined });
    });
  detect.addEventListener("change", () => store.change({ detect: detect.checked }));
  quality.addEventListener("change", () => store.change({ quality: quality.checked }));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    onRun();
  });

  store.watch((state) => {
    const { hasQuality, action } = OPERATIONS[state.operation];
    for (const radio of radios) radio.checked = radio.value === state.operation;
    detect.checked = state.detect;
    quality.checked = state.quality;
    byId("quality-option", HTMLLabelElement).hidden = !hasQuality;
    run.textContent = state.isWorking ? "Working…" : action;
    // Not `disabled`, which would take the focus away.
    run.setAttribute("aria-disabled", String(state.isWorking));
  });
}
