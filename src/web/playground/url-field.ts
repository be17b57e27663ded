import { byId } from "../site/elements.ts";
import { parseAddress } from "./url-photo.ts";

/** Binds the field for the URL of a photo. A URL that is pasted outside a field is used as well. */
export function mountUrlField(onUrl: (url: URL) => void): void {
  const input = byId("photo-url", HTMLInputElement);
  const problem = byId("photo-url-problem", HTMLParagraphElement);
  const use = () => {
    const url = parseAddress(input.value);
    input.setAttribute("aria-invalid", String(!url));
    problem.textContent = url ? "" : "Enter a URL that begins with http:// or https://.";
    if (!url) {
      input.focus();
      problem.scrollIntoView({ block: "nearest" });
      return;
    }
    input.value = "";
    onUrl(url);
  };
  byId("use-url", HTMLButtonElement).addEventListener("click", use);
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    // Otherwise the form would be submitted.
    event.preventDefault();
    use();
  });
  input.addEventListener("input", () => {
    input.removeAttribute("aria-invalid");
    problem.textContent = "";
  });
  document.addEventListener("paste", ({ target, clipboardData }) => {
    if (target instanceof HTMLInputElement || !clipboardData || clipboardData.files.length > 0) return;
    const url = parseAddress(clipboardData.getData("text/plain"));
    if (url) onUrl(url);
  });
}
