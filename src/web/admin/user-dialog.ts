import { askToCreateKey, askToReplaceKey } from "../accounts/create-key.ts";
import { openDialog, runOnce } from "../accounts/dialog.ts";
import { describeSubscription, formatCount } from "../accounts/format.ts";
import { drawKeys } from "../accounts/key-list.ts";
import { labelled } from "../accounts/labelled.ts";
import type { Key, KeyRequest, PlanSummary, User } from "../accounts/messages.ts";
import { drawUsagePanel } from "../accounts/usage-panel.ts";
import { actionRow, make, makeButton, reporting } from "../site/elements.ts";
import { drawFacts } from "../site/facts.ts";
import {
  createUserKey,
  deleteUser,
  deleteUserKey,
  readUser,
  sumUsage,
  type UserChanges,
  updateUser,
} from "./api.ts";
import { planSelect } from "./fields.ts";
import { drawRenewal } from "./renewal.ts";

/** Opens a user: its state, plan, subscription, keys and usage. `onChange` is called after every change. */
export async function openUser(
  { userId, name }: User,
  plans: readonly PlanSummary[],
  onChange: () => Promise<void>,
): Promise<void> {
  const state = make("div", { class: "form" });
  const problem = make("p", { class: "problem", role: "alert" });
  let shownKeys: readonly Key[] = [];

  async function change(work: () => Promise<void>): Promise<void> {
    await work();
    await refresh();
    await onChange();
  }

  async function refresh(): Promise<void> {
    const { user, keys } = await readUser(userId);
    shownKeys = keys;
    state.replaceChildren(
      drawFacts([
        ["Subscription", describeSubscription(user.subscription)],
        ["Plan", user.plan],
        ["Used this month", formatCount(user.usedThisMonth)],
        ["Fingerprint in logs", make("code", {}, user.fingerprint)],
        ...(user.certificateSubject ? [["Certificate", user.certificateSubject] as const] : []),
      ]),
      drawSettings(user),
      problem,
      drawKeySection(keys),
    );
  }

  const update = (changes: UserChanges) => change(() => updateUser(userId, changes));
  const updateBy = (button: HTMLButtonElement, changes: UserChanges) =>
    runOnce(button, problem, () => update(changes));

  function drawSettings({ plan, enabled }: User): HTMLElement {
    const select = planSelect("user-plan", plans, plan);
    const save = makeButton("Change plan", () => updateBy(save, { plan: select.value }));
    const enable = makeButton(
      enabled ? "Disable user" : "Enable user",
      () => (enabled ? askToDisable() : updateBy(enable, { enabled: true })),
      { class: enabled && "danger" },
    );
    const remove = makeButton("Delete user", askToDelete, { class: "danger" });
    return make(
      "section",
      {},
      make("h3", {}, "Plan and subscription"),
      make("div", { class: "fields" }, labelled("Plan", select), make("div", { class: "actions end" }, save)),
      drawRenewal(reporting(updateBy)),
      actionRow(enable, remove),
    );
  }

  const askToDisable = () =>
    openDialog({
      title: `Disable ${name}?`,
      content: [make("p", {}, "Its requests are rejected until you enable it again.")],
      submit: { label: "Disable user", isDestructive: true, run: () => update({ enabled: false }) },
    });

  const askToDelete = () =>
    openDialog({
      title: `Delete ${name}?`,
      content: [make("p", {}, "Its keys, usage and galleries are erased. This cannot be undone.")],
      submit: {
        label: "Delete user",
        isDestructive: true,
        run: async () => {
          await deleteUser(userId);
          dialog.close();
          await onChange();
        },
      },
    });

  const createKey = (request: KeyRequest) => createUserKey(userId, request);

  function drawKeySection(keys: readonly Key[]): HTMLElement {
    const create = makeButton("Create key", () => askToCreateKey(createKey, { onDone: reporting(refresh) }));
    const list = drawKeys(keys, {
      remove: ({ fingerprint }) => change(() => deleteUserKey(userId, fingerprint)),
      replace: (key) => askToReplaceKey(key, createKey, { onDone: reporting(refresh) }),
    });
    return make("section", {}, make("div", { class: "panel-top" }, make("h3", {}, "API keys"), create), list);
  }

  await refresh();
  const usage = drawUsagePanel(
    (month) => sumUsage(month, userId),
    () => shownKeys,
  );
  const dialog = openDialog({
    title: name,
    content: [state, make("section", {}, make("h3", {}, "Usage"), usage)],
    isWide: true,
  });
}
