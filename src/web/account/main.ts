import { askToCreateKey, askToReplaceKey } from "../accounts/create-key.ts";
import { failureText } from "../accounts/failure.ts";
import { drawKeys } from "../accounts/key-list.ts";
import type { CreatedKey, Key } from "../accounts/messages.ts";
import { drawUsagePanel } from "../accounts/usage-panel.ts";
import { byId, reporting } from "../site/elements.ts";
import { openKeyDialog } from "../site/key-control.ts";
import { onKeyChange, readKey, storeKey } from "../site/session.ts";
import { mountSite } from "../site/site.ts";
import { createKey, deleteKey, readAccount, readUsage } from "./api.ts";
import { drawPlan, drawQuota } from "./plan-view.ts";

await mountSite();
const signIn = byId("sign-in", HTMLElement);
const problem = byId("key-problem", HTMLParagraphElement);
const sections = byId("account", HTMLDivElement);
const status = byId("status", HTMLParagraphElement);
let keys: readonly Key[] = [];

byId("create-key", HTMLButtonElement).addEventListener("click", () =>
  askToCreateKey(createKey, { onDone: reporting(update) }),
);

byId("enter-key", HTMLButtonElement).addEventListener("click", openKeyDialog);
onKeyChange(reporting(show));
if (readKey()) show().catch(reportError);

/** Reads the account and draws it. Hides the previous one if that fails. */
async function show(): Promise<void> {
  status.textContent = "Loading the account.";
  try {
    await update();
    byId("usage", HTMLDivElement).replaceChildren(drawUsagePanel(readUsage, () => keys));
    sections.hidden = false;
    signIn.hidden = true;
    status.textContent = "The account is shown.";
  } catch (error) {
    sections.hidden = true;
    status.textContent = "";
    signIn.hidden = false;
    problem.textContent = failureText(error);
  }
}

/** Draws everything but the usage, which has its own choice of the month. */
async function update(): Promise<void> {
  const read = await readAccount();
  keys = read.account.keys;
  byId("plan", HTMLDivElement).replaceChildren(...drawPlan(read));
  byId("quota", HTMLDivElement).replaceChildren(...drawQuota(read));
  byId("keys", HTMLDivElement).replaceChildren(drawKeys(keys, { remove: removeKey, replace: replaceKey }));
}

async function removeKey({ fingerprint }: Key): Promise<void> {
  await deleteKey(fingerprint);
  status.textContent = `Deleted key ${fingerprint}.`;
  await update();
}

function replaceKey(key: Key): void {
  const options = key.current
    ? { note: "This page uses the new key from now on.", onDone: useCreatedKey }
    : { onDone: reporting(update) };
  askToReplaceKey(key, createKey, options);
}

/** The old key may end at once, and the new one can delete it. */
function useCreatedKey({ key }: CreatedKey): void {
  storeKey(key);
}
