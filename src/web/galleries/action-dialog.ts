import { type DialogOptions, openDialog } from "../site/dialog.ts";
import { make } from "../site/elements.ts";
import { failureText } from "./failure.ts";

/** Shows an error in the page. */
type ShowFailure = (text: string) => void;

/** Opens a dialog that shows why its action failed. If the user has closed it meanwhile, the page shows it. */
export function openAction(options: DialogOptions, onLateFailure: ShowFailure): HTMLDialogElement {
  const dialog = openDialog(options, (error) => {
    const text = failureText(error);
    if (!dialog.open) onLateFailure(text);
    return text;
  });
  return dialog;
}

/** What a dialog renames. */
interface NameDialog {
  readonly title: string;
  readonly name: string;
  /** Stores the new name. Throws RequestError. */
  save(name: string): Promise<void>;
  onSaved(): void;
  /** What stands below the field. */
  readonly more?: readonly Node[];
}

/** Opens a dialog for a new name, with the old one in it. */
export function openNameDialog(options: NameDialog, onLateFailure: ShowFailure): HTMLDialogElement {
  const { title, name, save, onSaved, more = [] } = options;
  const input = make("input", { type: "text", value: name, maxlength: 256, autocomplete: "off" });
  const content = [make("label", { class: "field" }, "Name", input), ...more];
  const submit = { label: "Save", run: () => save(input.value.trim()), onDone: onSaved };
  const dialog = openAction({ title, content, submit }, onLateFailure);
  input.select();
  return dialog;
}
