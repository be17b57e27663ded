import { byId } from "../site/elements.ts";
import { failureText } from "./failure.ts";
import { createGallery, type Gallery } from "./gallery-api.ts";
import { isId, suggestId } from "./names.ts";

/** Binds the form that creates a gallery. */
export function mountCreateForm(onCreated: (gallery: Gallery) => void): void {
  const form = byId("create-form", HTMLFormElement);
  const name = byId("new-name", HTMLInputElement);
  const id = byId("new-id", HTMLInputElement);
  const problem = byId("create-problem", HTMLParagraphElement);
  let isIdTyped = false;
  let isBusy = false;
  name.addEventListener("input", () => {
    if (!isIdTyped) id.value = suggestId(name.value);
  });
  id.addEventListener("input", () => {
    isIdTyped = id.value !== "";
  });

  const create = async () => {
    const galleryId = id.value.trim();
    problem.textContent = "";
    if (!isId(galleryId)) {
      problem.textContent = galleryId
        ? "An id has 1 to 128 letters, digits and . _ ~ -"
        : "Enter a name or an id.";
      (name.value ? id : name).focus();
      return;
    }
    try {
      const gallery = await createGallery(galleryId, name.value.trim());
      form.reset();
      isIdTyped = false;
      onCreated(gallery);
    } catch (error) {
      problem.textContent = failureText(error);
    }
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (isBusy) return;
    isBusy = true;
    create()
      .catch(reportError)
      .finally(() => {
        isBusy = false;
      });
  });
}
