const FEEDBACK_MS = 1500;

/** Makes a button copy a text and report whether that worked. */
export function copyOnClick(button: HTMLButtonElement, text: () => string): void {
  const label = button.firstChild as Text;
  const original = label.data;
  button.addEventListener("click", async () => {
    label.data = (await copy(text())) ? "Copied" : "Not copied";
    setTimeout(() => {
      label.data = original;
    }, FEEDBACK_MS);
  });
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
