import { LIMIT_NAMES, PLAN_LIMITS } from "../../plan-limits.ts";
import { openDialog } from "../accounts/dialog.ts";
import { formatCount, formatLimit } from "../accounts/format.ts";
import type { PlanSummary } from "../accounts/messages.ts";
import { drawTable } from "../accounts/table.ts";
import { make, visuallyHidden } from "../site/elements.ts";
import { deletePlan } from "./api.ts";
import { askForPlan } from "./plan-dialog.ts";

/** Draws all plans, with buttons to change and delete them. `onChange` is called after every change. */
export function drawPlans(plans: readonly PlanSummary[], onChange: () => Promise<void>): HTMLElement {
  return drawTable<PlanSummary>(
    "Plans",
    [
      { title: "Name", cell: ({ plan }) => make("strong", {}, plan.name) },
      ...LIMIT_NAMES.map((name) => ({
        title: PLAN_LIMITS[name].title,
        isNumber: true,
        cell: ({ plan }: PlanSummary) => formatLimit(plan, name),
      })),
      { title: "Users", isNumber: true, cell: ({ userCount }) => formatCount(userCount) },
      { title: "", cell: (summary) => planButtons(summary, onChange) },
    ],
    plans,
  );
}

function planButtons({ plan, userCount }: PlanSummary, onChange: () => Promise<void>): HTMLElement {
  const of = () => visuallyHidden(` plan ${plan.name}`);
  const edit = make("button", { type: "button" }, "Edit", of());
  edit.addEventListener("click", () => askForPlan(plan, onChange));
  if (userCount > 0) return make("div", { class: "actions" }, edit);
  const remove = make("button", { type: "button", class: "danger" }, "Delete", of());
  remove.addEventListener("click", () => {
    openDialog({
      title: `Delete plan ${plan.name}?`,
      content: [make("p", {}, "No user has it. This cannot be undone.")],
      submit: {
        label: "Delete plan",
        isDestructive: true,
        run: async () => {
          await deletePlan(plan.name);
          await onChange();
        },
      },
    });
  });
  return make("div", { class: "actions" }, edit, remove);
}
