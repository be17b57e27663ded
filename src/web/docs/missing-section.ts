import { make } from "../site/elements.ts";

/** Shows a notice while the fragment of the address names no section. */
export function mountMissingSection(): void {
  const notice = make("p", { class: "notice missing-section", role: "alert" });
  const update = () => {
    const id = sectionId();
    const isMissing = id !== "" && document.getElementById(id) === null;
    notice.hidden = !isMissing;
    notice.textContent = isMissing ? missingText(id) : "";
    if (isMissing) notice.scrollIntoView({ block: "center" });
  };
  document.querySelector(".reference")!.prepend(notice);
  addEventListener("hashchange", update);
  update();
}

function missingText(id: string): string {
  return `This page has no section “${id}”. It may have been renamed. The contents list all sections.`;
}

function sectionId(): string {
  const fragment = location.hash.slice(1);
  try {
    return decodeURIComponent(fragment);
  } catch {
    // Not an encoded text, so the browser takes it as it is.
    return fragment;
  }
}
