const SHOWN_MS = 1500;

/** Lets a button copy a text, and say that it did. */
export function copyOnClick(button: HTMLButtonElement, text: () => string): void {
  const label = button.firstChild as Text;
  const before = label.data;
  button.addEventListener("click", async () => {
    label.data = (await copy(text())) ? "Copied" : "Not copied";
    setTimeout(() => {
      label.data = before;
    }, SHOWN_MS);
  });
}

async function copy(text: string): Promise<boolean> {
  // Over plain HTTP from another machine there is no clipboard but this old way.
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
