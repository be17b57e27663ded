import { showKey } from "../accounts/create-key.ts";
import { openDialog } from "../accounts/dialog.ts";
import { labelled } from "../accounts/labelled.ts";
import type { PlanSummary } from "../accounts/messages.ts";
import { make } from "../site/elements.ts";
import { createUser } from "./api.ts";
import { planSelect } from "./fields.ts";

/** Asks for a name, a plan and the end of the subscription, adds the user and shows its key once. */
export function askToAddUser(plans: readonly PlanSummary[], onDone: () => Promise<void>): void {
  const name = make("input", { id: "new-name", required: true, maxlength: 100, autocomplete: "off" });
  const plan = planSelect("new-plan", plans, "trial");
  const end = make("input", { id: "new-end", type: "date" });
  let created: Awaited<ReturnType<typeof createUser>> | undefined;
  openDialog({
    title: "Add user",
    content: [
      labelled("Name", name),
      make(
        "div",
        { class: "fields" },
        labelled("Plan", plan),
        labelled("End of the subscription (optional)", end),
      ),
    ],
    submit: {
      label: "Add user",
      run: async () => {
        created = await createUser({
          name: name.value.trim(),
          plan: plan.value,
          ...(end.value && { endTime: `${end.value}T00:00:00Z` }),
        });
      },
      onDone: () => {
        if (created) showKey(`Key of ${created.user.name}`, created.key);
        onDone().catch(reportError);
      },
    },
  });
}
