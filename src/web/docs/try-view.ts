import { byId, make } from "../site/elements.ts";
import type { Off } from "../site/service-info.ts";
import { featuresOf } from "../switched-off.ts";
import { InputError } from "./try-fields.ts";
import type { TryForm } from "./try-form.ts";
import { createInputs, samplePhoto } from "./try-inputs.ts";
import { createKeyField } from "./try-key.ts";
import { EXAMPLE_GALLERY, prepareGallery, preparesGallery } from "./try-preparation.ts";
import { sendTry, type TryResponse } from "./try-request.ts";
import { resultView } from "./try-result.ts";

type Forms = Readonly<Record<string, TryForm>>;

/** Adds a form to every operation, which is built when it is opened. The forms have no features that are switched off. */
export function mountTryForms({ permissions }: Off): void {
  const features = featuresOf(permissions);
  const forms = JSON.parse(byId("try-forms", HTMLScriptElement).text, (_, value: unknown) =>
    Array.isArray(value) ? value.filter((item) => !features.includes(item)) : value,
  ) as Forms;
  for (const place of document.querySelectorAll<HTMLElement>(".try")) {
    const operation = place.dataset.operation!;
    const details = make("details", { class: "card" }, make("summary", {}, "Try it"));
    details.addEventListener("toggle", () => details.append(createForm(operation, forms)), { once: true });
    place.append(details);
  }
}

function createForm(operation: string, forms: Forms): HTMLElement {
  const id = (name: string) => `try-${operation}-${name}`;
  const key = createKeyField(id("key"));
  const inputs = createInputs(forms[operation]!, id);
  const send = make("button", { type: "submit", class: "primary" }, "Send request");
  const cancel = make("button", { type: "button", hidden: true }, "Cancel");
  const result = make("div", { class: "try-result hides-empty", "aria-live": "polite" });
  const view = make(
    "form",
    { novalidate: true },
    key.element,
    ...inputs.elements,
    ...(preparesGallery(operation) ? [galleryHint()] : []),
    make("div", { class: "actions" }, send, cancel),
    result,
  );
  const run = async (signal: AbortSignal): Promise<TryResponse> => {
    const request = await inputs.createRequest();
    const options = { key: key.read(), signal };
    const failure = await prepareGallery(operation, request, forms, options, () => samplePhoto(0));
    return failure ?? sendTry(request, options);
  };
  view.addEventListener("submit", (event) => {
    event.preventDefault();
    const controller = new AbortController();
    cancel.onclick = () => controller.abort();
    send.disabled = true;
    cancel.hidden = false;
    result.replaceChildren(make("p", { class: "hint" }, "Waiting for the response…"));
    run(controller.signal)
      .then(resultView, (error: unknown) => [problem(error, controller.signal)])
      .then((shown) => result.replaceChildren(...shown))
      .finally(() => {
        send.disabled = false;
        cancel.hidden = true;
      })
      .catch(reportError);
  });
  return view;
}

function galleryHint(): HTMLElement {
  const text = `The page has made up the gallery ${EXAMPLE_GALLERY} for this visit. It creates first what the operation needs in it. Delete the gallery when you are done.`;
  return make("p", { class: "hint" }, text);
}

function problem(error: unknown, { aborted }: AbortSignal): HTMLElement {
  const text = aborted
    ? "Cancelled."
    : error instanceof InputError
      ? error.message
      : "The service could not be reached.";
  return make("p", { class: "problem" }, text);
}
