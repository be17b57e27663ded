import { make } from "../site/elements.ts";
import type { TryField, TryForm } from "./try-form.ts";

/** An input that cannot be sent. The message tells the user what to change. */
export class InputError extends Error {
  override readonly name = "InputError";
}

/** A control of the form. `read` returns the values of the field; none if it is not sent. */
interface TryControl {
  readonly name: string;
  readonly element: HTMLElement;
  read(): readonly string[];
}

/** Creates the control of a field. */
export function createControl(field: TryField, id: string): TryControl {
  const { name, kind } = field;
  if (kind === "choices") return choicesControl(field, id);
  const input = kind === "choice" ? choiceInput(field, id) : textInput(field, id);
  const label = make("label", { for: id }, make("code", {}, name), field.isRequired ? "" : " (optional)");
  return {
    name,
    element: make("div", { class: "field" }, label, input),
    read: () => {
      if (input instanceof HTMLInputElement && input.type === "checkbox") return input.checked ? ["1"] : [];
      const value = input.value.trim();
      return value ? [value] : [];
    },
  };
}

function textInput({ kind, value, isRequired }: TryField, id: string): HTMLInputElement {
  if (kind === "switch") return make("input", { id, type: "checkbox", checked: value === true });
  return make("input", {
    id,
    type: "text",
    inputmode: kind === "number" ? "decimal" : undefined,
    required: isRequired,
    autocomplete: "off",
    spellcheck: "false",
    value: value === undefined ? undefined : String(value),
  });
}

function choiceInput({ values = [], value }: TryField, id: string): HTMLSelectElement {
  const options = ["", ...values].map((item) =>
    make("option", { value: item, selected: item === value }, item),
  );
  return make("select", { id }, ...options);
}

function choicesControl({ name, values = [], value }: TryField, id: string): TryControl {
  const chosen = Array.isArray(value) ? value : [];
  const boxes = values.map((item) =>
    make("input", { type: "checkbox", value: item, checked: chosen.includes(item) }),
  );
  const labels = boxes.map((box, i) => make("label", {}, box, ` ${values[i]}`));
  return {
    name,
    element: make("fieldset", { class: "field", id }, make("legend", {}, make("code", {}, name)), ...labels),
    read: () => boxes.filter((box) => box.checked).map((box) => box.value),
  };
}

/** A control for a photo, which is a sample until the user chooses a file. */
export type PhotoControl = ReturnType<typeof createPhotoControl>;

/** Creates the control of a photo. */
export function createPhotoControl(name: string, id: string) {
  const input = make("input", {
    id,
    type: "file",
    accept: "image/jpeg,image/png,image/webp",
    "aria-describedby": `${id}-hint`,
  });
  const hint = make("p", { class: "hint", id: `${id}-hint` }, "Without a file, a sample photo is sent.");
  return {
    name,
    element: make("div", { class: "field" }, make("label", { for: id }, make("code", {}, name)), input, hint),
    file: () => input.files?.[0],
  };
}

/** Creates the control of a body that is edited as text. */
export function createBodyControl(
  { lines }: TryForm,
  id: string,
  text: string,
): [HTMLElement, HTMLTextAreaElement] {
  const area = make("textarea", { id, rows: lines === undefined ? 5 : 6, spellcheck: "false" });
  area.value = text;
  const label = make("label", { for: id }, lines === undefined ? "Body (JSON)" : "Body (lines of JSON)");
  return [make("div", { class: "field" }, label, area), area];
}
