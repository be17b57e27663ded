import * as site from "../site/dialog.ts";
import { failureText } from "./failure.ts";

/** Opens a dialog that shows the failures of calls about accounts. */
export function openDialog(options: site.DialogOptions): HTMLDialogElement {
  return site.openDialog(options, failureText);
}

/** Runs work with its button disabled. Shows why it failed, and returns whether it did not. */
export function runOnce(
  button: HTMLButtonElement,
  problem: HTMLElement,
  work: () => Promise<void>,
): Promise<boolean> {
  return site.runOnce(button, problem, work, failureText);
}
