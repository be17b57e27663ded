import { byId } from "../site/elements.ts";
import type { Store } from "./store.ts";

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
export function busyLabel(sentShare: number | undefined): string {
  if (sentShare === undefined || sentShare >= 1) return "Working…";
  return `Sending… ${Math.floor(100 * sentShare)}%`;
}
