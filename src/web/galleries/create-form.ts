import { runOnce } from "../site/dialog.ts";
import { byId, reporting } from "../site/elements.ts";
import { failureText } from "./failure.ts";
import { createGallery, type Gallery } from "./gallery-api.ts";
import { isId, suggestId } from "./names.ts";

/** Binds the form that creates a gallery. */
export function mountCreateForm(onCreated: (gallery: Gallery) => void): void {
  const form = byId("create-form", HTMLFormElement);
  const name = byId("new-name", HTMLInputElement);
  const id = byId("new-id", HTMLInputElement);
  const problem = byId("create-problem", HTMLParagraphElement);
  const button = form.querySelector<HTMLButtonElement>("[type=submit]")!;
  let isIdTyped = false;
  name.addEventListener("input", () => {
    if (!isIdTyped) id.value = suggestId(name.value);
  });
  id.addEventListener("input", () => {
    isIdTyped = id.value !== "";
  });

  const submit = reporting(async () => {
    const galleryId = id.value.trim();
    problem.textContent = "";
    if (!isId(galleryId)) {
      problem.textContent = galleryId
        ? "An id has 1 to 128 letters, digits and . _ ~ -"
        : "Enter a name or an id.";
      (name.value ? id : name).focus();
      return;
    }
    const create = async () => {
      const gallery = await createGallery(galleryId, name.value.trim());
      form.reset();
      isIdTyped = false;
      onCreated(gallery);
    };
    await runOnce(button, problem, create, failureText);
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    submit();
  });
}
