import { fieldOfLimit, LIMIT_NAMES, type LimitName, minOfLimit, PLAN_LIMITS } from "../../plan-limits.ts";
import { openDialog } from "../accounts/dialog.ts";
import { labelled } from "../accounts/labelled.ts";
import type { Plan, PlanLimits } from "../accounts/messages.ts";
import { createPermissionBoxes } from "../accounts/permission-boxes.ts";
import { make } from "../site/elements.ts";
import { createPlan, updatePlan } from "./api.ts";

/** Asks for the limits of a plan and what it switches off, and stores them. Without a plan, it asks for the name of a new one. */
export function askForPlan(plan: Plan | undefined, onDone: () => Promise<void>): void {
  const name = make("input", { id: "plan-name", required: true, maxlength: 100, autocomplete: "off" });
  const inputs = LIMIT_NAMES.map((limit) => {
    const { title, kind } = PLAN_LIMITS[limit];
    const step = kind === "rate" ? "any" : "1";
    const options = {
      id: `plan-${limit}`,
      type: "number",
      min: minOfLimit(limit),
      step,
      value: plan?.limits[limit],
    };
    return { limit, label: kind === "bytes" ? `${title} in bytes` : title, input: make("input", options) };
  });
  const off = createPermissionBoxes("Switched off", plan?.off);
  openDialog({
    title: plan ? `Limits of ${plan.name}` : "Add plan",
    content: [
      ...(plan ? [] : [labelled("Name", name)]),
      make("div", { class: "fields" }, ...inputs.map(({ label, input }) => labelled(label, input))),
      make(
        "p",
        { class: "hint" },
        "An empty field means no limit. If “Requests at once” is empty, the service derives it from the requests per second.",
      ),
      off.element,
    ],
    submit: {
      label: plan ? "Save limits" : "Add plan",
      run: async () => {
        const texts = inputs.map(({ limit, input }) => [limit, input.value.trim()] as const);
        const limits = givenLimits(texts);
        if (plan) await updatePlan(plan.name, limits, emptyLimits(texts), off.read());
        else await createPlan(name.value.trim(), limits, off.read());
        await onDone();
      },
    },
  });
}

type Texts = readonly (readonly [limit: LimitName, text: string])[];

function givenLimits(texts: Texts): PlanLimits {
  return Object.fromEntries(
    texts.filter(([, text]) => text !== "").map(([limit, text]) => [limit, Number(text)]),
  );
}

/** The fields of the limits that have no value. */
function emptyLimits(texts: Texts): string[] {
  return texts
    .filter(([limit, text]) => !PLAN_LIMITS[limit].isRequired && text === "")
    .map(([limit]) => fieldOfLimit(limit));
}
