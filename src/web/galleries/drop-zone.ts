import { make } from "../site/elements.ts";

/** How a drop zone looks and what it does. */
export interface DropZoneOptions {
  readonly title: string;
  /** Label of the button that opens the file dialog. */
  readonly button: string;
  readonly isMultiple: boolean;
  onFiles(files: readonly File[]): void;
}

/** Creates an area that takes photos by drop and by a file dialog. */
export function createDropZone({ title, button, isMultiple, onFiles }: DropZoneOptions): HTMLElement {
  const input = make("input", {
    type: "file",
    accept: "image/*",
    multiple: isMultiple,
    hidden: true,
  });
  const choose = make("button", { type: "button", "data-part": "choose" }, button);
  choose.addEventListener("click", () => input.click());
  input.addEventListener("change", () => {
    const files = [...(input.files ?? [])];
    // So that the same file can be chosen again.
    input.value = "";
    if (files.length > 0) onFiles(files);
  });
  const zone = make("div", { class: "drop-zone" }, make("p", {}, title), choose, input);
  zone.addEventListener("dragenter", () => zone.classList.add("dropping"));
  zone.addEventListener("dragleave", ({ relatedTarget }) => {
    if (!zone.contains(relatedTarget as Node | null)) zone.classList.remove("dropping");
  });
  zone.addEventListener("drop", (event) => {
    zone.classList.remove("dropping");
    const files = [...(event.dataTransfer?.files ?? [])];
    if (files.length > 0) onFiles(isMultiple ? files : files.slice(0, 1));
  });
  return zone;
}

/** Prevents that the browser opens a file that is dropped beside the zones. */
export function ignoreStrayDrops(): void {
  for (const name of ["dragover", "drop"] as const)
    document.addEventListener(name, (event) => {
      if (event.dataTransfer?.types.includes("Files")) event.preventDefault();
    });
}
