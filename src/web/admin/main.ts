import { failureText, isRejectedKey } from "../accounts/failure.ts";
import type { PlanSummary, User } from "../accounts/messages.ts";
import { drawUsagePanel } from "../accounts/usage-panel.ts";
import { byId } from "../site/elements.ts";
import { mountSite } from "../site/site.ts";
import { askToAddUser } from "./add-user.ts";
import { listPlans, readAdminKey, storeAdminKey, sumUsage } from "./api.ts";
import { mountKeyField } from "./key-field.ts";
import { askForPlan } from "./plan-dialog.ts";
import { drawPlans } from "./plan-list.ts";
import { openUser } from "./user-dialog.ts";
import { mountUserList } from "./user-list.ts";

await mountSite();
const field = mountKeyField(signIn);
const signInForm = byId("sign-in", HTMLFormElement);
const sections = byId("admin", HTMLDivElement);
const users = mountUserList(manage);
let plans: readonly PlanSummary[] = [];

byId("add-user", HTMLButtonElement).addEventListener("click", () => askToAddUser(plans, reload));
byId("add-plan", HTMLButtonElement).addEventListener("click", () => askForPlan(undefined, reload));
byId("sign-out", HTMLButtonElement).addEventListener("click", signOut);

if (readAdminKey()) show().catch(reportError);

async function signIn(key: string): Promise<void> {
  storeAdminKey(key);
  await show();
}

function signOut(): void {
  storeAdminKey("");
  // Nothing of the users stays in the page.
  location.reload();
}

/** Reads everything and draws it. Asks for the key again if it is not accepted. */
async function show(): Promise<void> {
  try {
    await reload();
    byId("usage", HTMLDivElement).replaceChildren(drawUsagePanel((month) => sumUsage(month)));
    field.setProblem("");
    signInForm.hidden = true;
    sections.hidden = false;
    sections.focus();
  } catch (error) {
    if (isRejectedKey(error)) storeAdminKey("");
    field.setProblem(failureText(error), isRejectedKey(error));
  }
}

/** Reads users and plans again, after a change. */
async function reload(): Promise<void> {
  plans = await listPlans();
  byId("plans", HTMLDivElement).replaceChildren(drawPlans(plans, reload));
  await users.reload();
}

function manage(user: User): void {
  const problem = byId("users-problem", HTMLParagraphElement);
  problem.textContent = "";
  openUser(user, plans, reload).catch((error: unknown) => {
    problem.textContent = failureText(error);
  });
}
