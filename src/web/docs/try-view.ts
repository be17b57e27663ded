import { byId, make } from "../site/elements.ts";
import { readUserId, storeUserId } from "../site/session.ts";
import { createBodyControl, createControl, createPhotoControl, type PhotoControl } from "./try-fields.ts";
import type { TryForm } from "./try-form.ts";
import { base64Of, samplePhoto } from "./try-photos.ts";
import { EXAMPLE_GALLERY, prepareGallery, preparesGallery } from "./try-preparation.ts";
import { requestPath, sendTry, type TryRequest } from "./try-request.ts";
import { resultView } from "./try-result.ts";

type Forms = Readonly<Record<string, TryForm>>;

/** Adds a form to every operation, which is built when it is opened. */
export function mountTryForms(): void {
  const forms = JSON.parse(byId("try-forms", HTMLScriptElement).text) as Forms;
  for (const place of document.querySelectorAll<HTMLElement>(".try")) {
    const operation = place.dataset.operation!;
    const form = forms[operation];
    if (!form) continue;
    const details = make("details", {}, make("summary", {}, "Try it"));
    details.addEventListener("toggle", () => details.append(createForm(operation, form, forms)), {
      once: true,
    });
    place.append(details);
  }
}

function createForm(operation: string, form: TryForm, forms: Forms): HTMLElement {
  const id = (name: string) => `try-${operation}-${name}`;
  const fields = form.fields.map((field) => ({
    place: field.place,
    control: createControl(
      field.name === "gallery_id" ? { ...field, value: EXAMPLE_GALLERY } : field,
      id(field.name),
    ),
  }));
  const photos = (form.files ?? []).map((name) => createPhotoControl(name, id(name)));
  const hasStream = form.lines !== undefined && operation === "v1AnalyzeImages";
  if (hasStream) photos.push(createPhotoControl("image", id("image")));
  const bodyText = initialBody(form, hasStream);
  const body = bodyText === undefined ? undefined : createBodyControl(form, id("body"), bodyText);
  const keyInput = make("input", {
    id: id("key"),
    type: "password",
    autocomplete: "off",
    spellcheck: "false",
  });
  keyInput.value = readUserId();
  const send = make("button", { type: "submit", class: "primary" }, "Send request");
  const cancel = make("button", { type: "button", hidden: true }, "Cancel");
  const result = make("div", { class: "try-result", "aria-live": "polite" });
  const view = make(
    "form",
    { novalidate: true },
    make("div", { class: "try-field" }, make("label", { for: keyInput.id }, "Key"), keyInput),
    ...fields.map(({ control }) => control.element),
    ...photos.map(({ element }) => element),
    ...(body ? [body[0]] : []),
    ...(preparesGallery(operation) ? [galleryHint()] : []),
    make("div", { class: "try-actions" }, send, cancel),
    result,
  );

  const createRequest = async (): Promise<TryRequest> => {
    const inPath = new Map<string, string>();
    const inQuery: [string, string][] = [];
    for (const { place, control } of fields)
      for (const value of control.read())
        if (place === "path") inPath.set(control.name, value);
        else inQuery.push([control.name, value]);
    const path = requestPath(form.path, inPath, inQuery);
    return { method: form.method, path, ...(await createBody(photos, hasStream, body?.[1].value, form)) };
  };

  view.addEventListener("submit", (event) => {
    event.preventDefault();
    const controller = new AbortController();
    const key = keyInput.value.trim();
    storeUserId(key);
    const isBusy = (busy: boolean) => {
      send.disabled = busy;
      cancel.hidden = !busy;
    };
    isBusy(true);
    result.replaceChildren(make("p", { class: "hint" }, "Waiting for the response…"));
    cancel.onclick = () => controller.abort();
    const run = async () => {
      const request = await createRequest();
      const options = { key, signal: controller.signal, photo: () => samplePhoto(0) };
      await prepareGallery(operation, request, forms, options);
      return resultView(await sendTry(request, key, controller.signal));
    };
    run()
      .catch((error: unknown) => [make("p", { class: "problem" }, failureText(error, controller.signal))])
      .then((shown) => result.replaceChildren(...shown))
      .finally(() => isBusy(false))
      .catch(reportError);
  });
  return view;
}

/** The text of a body that the user can edit; undefined if the body consists of photos or is empty. */
function initialBody({ json, lines, files }: TryForm, hasStream: boolean): string | undefined {
  if (files || hasStream) return undefined;
  if (lines !== undefined) return JSON.stringify(lines);
  if (!json) return undefined;
  const example = "galleryId" in json ? { ...json, galleryId: EXAMPLE_GALLERY } : json;
  return JSON.stringify(example, undefined, 2);
}

async function createBody(
  photos: readonly PhotoControl[],
  isStream: boolean,
  text: string | undefined,
  { lines }: TryForm,
): Promise<Pick<TryRequest, "body" | "contentType">> {
  if (isStream) {
    const photo = photos[0]!.file();
    const content = await base64Of(photo ?? (await samplePhoto(0)));
    const line = {
      key: photo?.name ?? "sample.jpg",
      request: { image: { content }, features: ["FEATURE_QUALITY"] },
    };
    return { body: `${JSON.stringify(line)}\n`, contentType: "application/x-ndjson" };
  }
  if (text !== undefined)
    return { body: text, contentType: lines === undefined ? "application/json" : "application/x-ndjson" };
  if (photos.length === 0) return {};
  const body = new FormData();
  for (const [i, control] of photos.entries()) {
    const file = control.file();
    body.append(control.name, file ?? (await samplePhoto(i)), file?.name ?? "sample.jpg");
  }
  return { body };
}

function galleryHint(): HTMLElement {
  const text = `The gallery ${EXAMPLE_GALLERY} is for this visit. What the operation needs in it is created first. Delete it when you are done.`;
  return make("p", { class: "hint" }, text);
}

function failureText(error: unknown, { aborted }: AbortSignal): string {
  if (aborted) return "Cancelled.";
  return error instanceof TypeError ? "The service could not be reached." : String(error);
}
