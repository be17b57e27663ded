import { actionRow, make, makeButton } from "../site/elements.ts";
import { openDialog } from "./dialog.ts";
import { formatDate, formatTime } from "./format.ts";
import type { Key } from "./messages.ts";
import { drawTable } from "./table.ts";

/** What can be done with a key. */
interface KeyActions {
  /** Deletes a key. It is called after a confirmation, and not for the key that the page uses. */
  readonly remove: (key: Key) => Promise<void>;
  readonly replace: (key: Key) => void;
}

/** Draws the keys of a user. */
export function drawKeys(keys: readonly Key[], { remove, replace }: KeyActions): HTMLElement {
  if (keys.length === 0) return make("p", { class: "hint" }, "There is no valid API key.");
  return drawTable<Key>(
    "API keys",
    [
      { title: "Fingerprint", cell: ({ fingerprint }) => make("code", {}, fingerprint) },
      { title: "Name", cell: ({ name }) => name || "–" },
      { title: "Scopes", cell: ({ scopes }) => scopes.join(", ") || "all" },
      { title: "Galleries", cell: ({ galleryIds }) => galleryIds.join(", ") || "all" },
      { title: "Created", cell: ({ createTime }) => formatDate(createTime) },
      { title: "Last used", cell: ({ lastUseTime }) => (lastUseTime ? formatTime(lastUseTime) : "never") },
      { title: "Expires", cell: ({ expireTime }) => (expireTime ? formatTime(expireTime) : "never") },
      {
        title: "",
        cell: (key) =>
          actionRow(
            makeButton("Replace", () => replace(key), { subject: ` key ${key.fingerprint}` }),
            key.current ? make("span", { class: "hint" }, "used by this page") : deleteButton(key, remove),
          ),
      },
    ],
    keys,
  );
}

function deleteButton(key: Key, remove: (key: Key) => Promise<void>): HTMLElement {
  const ask = () =>
    openDialog({
      title: `Delete key ${key.fingerprint}?`,
      content: [
        make("p", {}, "Programs that use it are rejected within five seconds. This cannot be undone."),
      ],
      submit: { label: "Delete key", isDestructive: true, run: () => remove(key) },
    });
  return makeButton("Delete", ask, { class: "danger", subject: ` key ${key.fingerprint}` });
}
