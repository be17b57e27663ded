import { makeCopyButton } from "../site/copy.ts";
import { make } from "../site/elements.ts";
import { plural } from "../site/words.ts";
import { openDialog } from "./dialog.ts";
import type { CreatedKey } from "./messages.ts";

const GRACE_DAYS = [0, 1, 7, 14, 30, 90];
const DEFAULT_GRACE_DAYS = 7;

/** Asks how long the other keys stay valid, creates a key and shows it once. */
export function askToCreateKey(
  create: (graceDays: number) => Promise<CreatedKey>,
  { note, onDone }: { readonly note?: string; readonly onDone: (created: CreatedKey) => void },
): void {
  const options = GRACE_DAYS.map((days) =>
    make(
      "option",
      { value: days, selected: days === DEFAULT_GRACE_DAYS },
      days === 0 ? "end at once" : `expire in ${plural(days, "day")}`,
    ),
  );
  const grace = make("select", { id: "grace" }, ...options);
  let created: CreatedKey | undefined;
  openDialog({
    title: "Create key",
    content: [
      make(
        "p",
        {},
        "A new key replaces the old one. Change your programs to the new key before the old one expires.",
      ),
      make("div", { class: "field" }, make("label", { for: "grace" }, "The other keys"), grace),
    ],
    submit: {
      label: "Create key",
      run: async () => {
        created = await create(Number(grace.value));
      },
      onDone: () => {
        if (!created) return;
        showKey("New key", created.key, note);
        onDone(created);
      },
    },
  });
}

/** Shows a key that cannot be shown again, with a button to copy it. */
export function showKey(title: string, key: string, note?: string): void {
  const copy = makeCopyButton("Copy key", () => key, { class: "primary" });
  openDialog({
    title,
    content: [
      make("p", {}, "Copy the key now. It is shown only once and never stored."),
      make("p", { class: "notice new-key" }, make("code", {}, key)),
      ...(note === undefined ? [] : [make("p", { class: "hint" }, note)]),
    ],
    buttons: [copy],
  });
}
