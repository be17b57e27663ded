import { make } from "../site/elements.ts";

/** How a drop zone looks and what it does. */
interface DropZoneOptions {
  readonly title: string;
  /** Label of the button that opens the file dialog. */
  readonly button: string;
  readonly isMultiple: boolean;
  onFiles(files: readonly File[]): void;
  /** Takes what is dropped, which may have folders. By default `onFiles` gets the files. */
  onDrop?(data: DataTransfer): void;
}

/** Creates an area that takes photos by drop and by a file dialog. */
export function createDropZone({ title, button, isMultiple, onFiles, onDrop }: DropZoneOptions): HTMLElement {
  const input = make("input", { type: "file", accept: "image/*", multiple: isMultiple, hidden: true });
  const choose = make("button", { type: "button", "data-part": "choose" }, button);
  const zone = make("div", { class: "drop-zone" }, make("p", {}, title), choose, input);
  bindFileDialog(choose, input, onFiles);
  bindZone(zone, input);
  highlightDrops(zone);
  zone.addEventListener("drop", ({ dataTransfer }) => {
    const files = [...(dataTransfer?.files ?? [])];
    if (dataTransfer && onDrop) onDrop(dataTransfer);
    else if (files.length > 0) onFiles(isMultiple ? files : files.slice(0, 1));
  });
  return zone;
}

/** Makes a button open the dialog of a file input. */
export function bindFileDialog(
  button: HTMLButtonElement,
  input: HTMLInputElement,
  onFiles: (files: readonly File[]) => void,
): void {
  button.addEventListener("click", () => input.click());
  input.addEventListener("change", () => {
    const files = [...(input.files ?? [])];
    // So that the same file can be chosen again.
    input.value = "";
    if (files.length > 0) onFiles(files);
  });
}

/** Makes a click on the empty area of a drop zone open the dialog of a file input. */
export function bindZone(zone: HTMLElement, input: HTMLInputElement): void {
  zone.addEventListener("click", ({ target }) => {
    const isFilled = zone.classList.contains("filled");
    if (!isFilled && !(target as Element).closest("button, input, a")) input.click();
  });
}

/** Marks an element while files are dragged over it. */
export function highlightDrops(zone: HTMLElement): void {
  zone.addEventListener("dragenter", () => zone.classList.add("dropping"));
  zone.addEventListener("dragleave", ({ relatedTarget }) => {
    if (!zone.contains(relatedTarget as Node | null)) zone.classList.remove("dropping");
  });
  zone.addEventListener("drop", () => zone.classList.remove("dropping"));
}

/** Takes images that are pasted anywhere. */
export function onPastedImages(onFiles: (files: readonly File[]) => void): void {
  document.addEventListener("paste", ({ clipboardData }) => {
    const files = [...(clipboardData?.files ?? [])].filter(({ type }) => type.startsWith("image/"));
    if (files.length > 0) onFiles(files);
  });
}

/** Takes files that are dropped anywhere on the page, which the browser would open otherwise. */
export function onDroppedFiles(onDrop: (data: DataTransfer, target: EventTarget | null) => void): void {
  for (const name of ["dragover", "drop"] as const)
    document.addEventListener(name, (event) => {
      const { dataTransfer, target } = event;
      if (!dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      if (name === "drop") onDrop(dataTransfer, target);
    });
}
