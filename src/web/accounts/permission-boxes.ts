import { PERMISSION_NAMES, PERMISSIONS } from "../../permissions.ts";
import { make } from "../site/elements.ts";

/** Creates a check box for each permission that is not switched off for the whole service. */
export function createPermissionBoxes(legend: string, checked: readonly string[] = []) {
  const choices = PERMISSION_NAMES.map((name) => {
    const box = make("input", { type: "checkbox", value: name, checked: checked.includes(name) });
    const { title, meaning } = PERMISSIONS[name];
    const attributes = { class: "check", title: meaning, "data-permission": name };
    return { name, box, label: make("label", attributes, box, ` ${title}`) };
  });
  return {
    element: make(
      "fieldset",
      { class: "permissions" },
      make("legend", {}, legend),
      ...choices.map(({ label }) => label),
    ),
    /** Returns the names of those that are checked. */
    read: () => choices.flatMap(({ name, box }) => (box.checked ? [name] : [])),
  };
}
