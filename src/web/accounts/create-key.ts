import { makeCopyButton } from "../site/copy.ts";
import { make } from "../site/elements.ts";
import { plural } from "../site/words.ts";
import { openDialog } from "./dialog.ts";
import { labelled } from "./labelled.ts";
import type { CreatedKey, Key, KeyRequest } from "./messages.ts";
import { createPermissionBoxes } from "./permission-boxes.ts";

const GRACE_DAYS = [0, 1, 7, 14, 30, 90];
const DEFAULT_GRACE_DAYS = 7;

/** Creates a key. */
type Create = (request: KeyRequest) => Promise<CreatedKey>;

/** What follows when a key was created. */
interface CreateOptions {
  /** Shown with the key. */
  readonly note?: string;
  readonly onDone: (created: CreatedKey) => void;
}

/** Asks what a key is for, creates it and shows it once. */
export function askToCreateKey(create: Create, options: CreateOptions): void {
  const name = make("input", { id: "key-name", maxlength: 100, autocomplete: "off" });
  const galleries = make("input", { id: "key-galleries", autocomplete: "off" });
  const scopes = createPermissionBoxes("Scopes");
  openKeyDialog({
    title: "Create key",
    label: "Create key",
    content: [
      make("p", {}, "Create a key for each program, with what the program needs and nothing else."),
      labelled("Name", name),
      scopes.element,
      labelled("Galleries", galleries),
      make(
        "p",
        { class: "hint" },
        "Without scopes, the key can do all that the creating key can; without ids of galleries, in all its galleries. Separate ids by commas.",
      ),
    ],
    create: () =>
      create({
        name: name.value.trim(),
        scopes: scopes.read(),
        galleryIds: galleries.value.split(",").flatMap((id) => id.trim() || []),
      }),
    options,
  });
}

/** Asks how long a key stays valid, creates its successor and shows that once. */
export function askToReplaceKey({ fingerprint }: Key, create: Create, options: CreateOptions): void {
  const choices = GRACE_DAYS.map((days) =>
    make(
      "option",
      { value: days, selected: days === DEFAULT_GRACE_DAYS },
      days === 0 ? "ends at once" : `expires in ${plural(days, "day")}`,
    ),
  );
  const grace = make("select", { id: "grace" }, ...choices);
  openKeyDialog({
    title: `Replace key ${fingerprint}?`,
    label: "Replace key",
    content: [
      make(
        "p",
        {},
        "The new key has the same name, scopes, galleries and expiry. Change your programs to it before the old one expires.",
      ),
      labelled("The old key", grace),
    ],
    create: () => create({ replaces: fingerprint, graceDays: Number(grace.value) }),
    options,
  });
}

function openKeyDialog({
  title,
  label,
  content,
  create,
  options: { note, onDone },
}: {
  readonly title: string;
  readonly label: string;
  readonly content: HTMLElement[];
  readonly create: () => Promise<CreatedKey>;
  readonly options: CreateOptions;
}): void {
  let created: CreatedKey | undefined;
  openDialog({
    title,
    content,
    submit: {
      label,
      run: async () => {
        created = await create();
      },
      onDone: () => {
        if (!created) return;
        showKey("New key", created.key, note);
        onDone(created);
      },
    },
  });
}

/** Shows a key that cannot be shown again, with a button to copy it. Only the user who has stored it closes the dialog. */
export function showKey(title: string, key: string, note?: string): void {
  const copy = makeCopyButton("Copy key", () => key, { class: "primary" });
  openDialog({
    title,
    content: [
      make("p", {}, "Copy the key now and store it. It is shown only once."),
      make("p", { class: "notice new-key" }, make("code", {}, key)),
      ...(note === undefined ? [] : [make("p", { class: "hint" }, note)]),
    ],
    buttons: [copy],
    acknowledgement: "I have stored the key",
  });
}
