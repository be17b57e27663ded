import type { SampleRequest } from "../samples/sample-request.ts";
import { SAMPLE_LANGUAGES, type SampleLanguage } from "../samples/samples.ts";
import { makeCopyButton } from "../site/copy.ts";
import { byId } from "../site/elements.ts";
import { readFromTab, storeInTab } from "../site/tab-storage.ts";
import { createTabs } from "../site/tabs.ts";
import type { OperationName } from "./operations.ts";
import { type FaceRequest, type RequestImage, requestFrom } from "./request.ts";
import type { State, Store } from "./store.ts";
import { maskUserId } from "./user-id.ts";

/** The chosen language, which the API reference uses as well. */
const LANGUAGE = "sample_language";

/** Shows code that answers the question of the form, in a language that the user chooses. */
export function mountCodeView(store: Store): void {
  const block = byId("code", HTMLPreElement);
  // The block scrolls, so it must be reachable by keyboard.
  block.tabIndex = 0;
  let language = languageOf(readFromTab(LANGUAGE));
  const { list, mark } = createTabs({
    label: "Language of the code",
    tabs: SAMPLE_LANGUAGES.map(({ id, name }) => ({ name: id, label: name })),
    panel: block,
    onChoose(id) {
      storeInTab(LANGUAGE, id);
      language = languageOf(id);
      show(store.state);
    },
  });
  const show = (state: State) => {
    mark(language.id);
    const text = codeOf(language, state, maskUserId(state.userId));
    if (block.textContent !== text) block.textContent = text;
  };
  const code = () => codeOf(language, store.state, store.state.userId);
  byId("code-top", HTMLDivElement).append(list, makeCopyButton("Copy", code, { subject: " code" }));
  store.subscribe(show);
}

function languageOf(id: string | undefined): SampleLanguage {
  return SAMPLE_LANGUAGES.find((language) => language.id === id) ?? SAMPLE_LANGUAGES[0]!;
}

/** Without an API key, the code reads it from the environment. */
function codeOf({ name, write }: SampleLanguage, state: State, userId: string): string {
  const address = new URL(".", document.baseURI).href.replace(/\/$/, "");
  const code = write(codeRequest(requestFrom(state)), { address, ...(userId && { key: userId }) });
  return (
    code?.trimEnd() ?? `The ${name} client has no ${state.operation}, which is deprecated. Use match_faces.`
  );
}

/** The features of visage.v1 that answer an operation for one photo. */
const FEATURES: Readonly<Partial<Record<OperationName, readonly string[]>>> = {
  get_image_attr: ["FEATURE_LANDMARKS", "FEATURE_ATTRIBUTES"],
  get_face_vec: ["FEATURE_EMBEDDING"],
};

/**
 * Describes a request of visage.v1 that answers the same question as the form. Only the original API can skip the
 * detection; its request asks for the detail like the page, if the language allows it.
 */
function codeRequest({ operation, images, detect, quality }: FaceRequest): SampleRequest {
  const imagesOf = (...fields: readonly string[]) =>
    images.map((image, i) => ({
      field: fields[i] ?? image.field,
      file: fileName(image),
      url: image.photo?.url,
      ...(image.box && { boxes: [image.box] }),
    }));
  if (!detect) {
    const fields = { face_det: false, ...(quality && { quality }), detail: true };
    return { operation: operation.id, images: imagesOf(), fields };
  }
  const features = FEATURES[operation.name];
  if (!features) return { operation: "v1CompareFaces", images: imagesOf("source", "target") };
  const fields = { features: [...features, ...(quality ? ["FEATURE_QUALITY"] : [])] };
  return { operation: "v1AnalyzeImage", images: imagesOf("image"), fields };
}

/** A photo that the browser converts must be a JPEG for other programs. */
function fileName({ photo, slot }: RequestImage): string {
  if (!photo) return `photo-${slot + 1}.jpg`;
  return photo.isAccepted ? photo.name : photo.name.replace(/(\.\w+)?$/, ".jpg");
}
