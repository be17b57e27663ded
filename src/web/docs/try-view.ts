import { byId, make, makeButton } from "../site/elements.ts";
import { openKeyDialog } from "../site/key-control.ts";
import type { Off } from "../site/service-info.ts";
import { readKey } from "../site/session.ts";
import { featuresOf } from "../switched-off.ts";
import { createdGalleries, ExampleError, removeExamples, sendWithExample } from "./try-example.ts";
import { InputError } from "./try-fields.ts";
import type { TryForm } from "./try-form.ts";
import { createInputs, samplePhoto } from "./try-inputs.ts";
import type { SendOptions, TryResponse } from "./try-request.ts";
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
  const openTarget = () => {
    const details = document.querySelector<HTMLDetailsElement>(".try:target > details");
    if (!details) return;
    details.open = true;
    details.scrollIntoView();
  };
  addEventListener("hashchange", openTarget);
  openTarget();
}

function createForm(operation: string, forms: Forms): HTMLElement {
  const id = (name: string) => `try-${operation}-${name}`;
  const inputs = createInputs(forms[operation]!, id);
  const submit = make("button", { type: "submit", class: "primary" }, "Send request");
  const cancel = make("button", { type: "button", hidden: true }, "Cancel");
  const result = make("div", { class: "try-result hides-empty", "aria-live": "polite" });
  /** Runs one request at a time, and shows its result or why there is none. */
  const run = async (work: (options: SendOptions) => Promise<Node[]>) => {
    const controller = new AbortController();
    const { signal } = controller;
    const hadFocus = result.contains(document.activeElement);
    cancel.onclick = () => controller.abort();
    submit.disabled = true;
    cancel.hidden = false;
    result.replaceChildren(make("p", { class: "hint" }, "Waiting for the response…"));
    try {
      result.replaceChildren(...(await work({ key: readKey(), signal })));
    } catch (error) {
      result.replaceChildren(...problem(error, signal));
    }
    result.append(...leftovers());
    submit.disabled = false;
    cancel.hidden = true;
    if (hadFocus) submit.focus({ preventScroll: true });
  };
  const send = async (options: SendOptions): Promise<TryResponse> =>
    sendWithExample(operation, await inputs.createRequest(), { forms, options, photo: () => samplePhoto(0) });
  const remove = async (options: SendOptions) => {
    await removeExamples({ forms, options });
    return [make("p", { class: "hint" }, "Removed.")];
  };
  const leftovers = () => {
    const galleries = createdGalleries();
    if (galleries.length === 0) return [];
    const [noun, them] = galleries.length === 1 ? ["gallery", "it"] : ["galleries", "them"];
    const text = `This page created the ${noun} ${galleries.join(", ")}. `;
    const button = makeButton(`Remove ${them}`, () => run(remove), { class: "small" });
    return [make("p", { class: "hint" }, text, button)];
  };
  const view = make(
    "form",
    { novalidate: true },
    ...inputs.elements,
    make("div", { class: "actions" }, submit, cancel),
    result,
  );
  view.addEventListener("submit", (event) => {
    event.preventDefault();
    if (readKey() === "") return openKeyDialog();
    run(async (options) => resultView(await send(options))).catch(reportError);
  });
  result.append(...leftovers());
  return view;
}

function problem(error: unknown, { aborted }: AbortSignal): Node[] {
  const text = aborted
    ? "Cancelled."
    : error instanceof InputError || error instanceof ExampleError
      ? error.message
      : "The service could not be reached.";
  const response = error instanceof ExampleError ? resultView(error.response) : [];
  return [make("p", { class: "problem" }, text), ...response];
}
