import { type Attributes, makeButton } from "./elements.ts";

const FEEDBACK_MS = 1500;

/** Creates a button that copies a text. */
export function makeCopyButton(
  label: string,
  text: () => string,
  attributes: Attributes = {},
): HTMLButtonElement {
  const button: HTMLButtonElement = makeButton(label, () => copyBy(button, label, text()), attributes);
  return button;
}

/** Copies a text for a pressed button, whose label reports for a moment whether that worked. */
async function copyBy(button: HTMLButtonElement, original: string, text: string): Promise<void> {
  const label = button.firstChild as Text;
  label.data = (await copy(text)) ? "Copied" : "Not copied";
  setTimeout(() => {
    label.data = original;
  }, FEEDBACK_MS);
}

async function copy(text: string): Promise<boolean> {
  // The clipboard API is missing on pages served over plain HTTP from another machine.
  if (!("clipboard" in navigator)) return copyBySelection(text);
  return navigator.clipboard.writeText(text).then(
    () => true,
    () => false,
  );
}

function copyBySelection(text: string): boolean {
  const focused = document.activeElement;
  const area = document.createElement("textarea");
  area.value = text;
  document.body.append(area);
  area.select();
  const isCopied = document.execCommand("copy");
  area.remove();
  if (focused instanceof HTMLElement) focused.focus();
  return isCopied;
}
