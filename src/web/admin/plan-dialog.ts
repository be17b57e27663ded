import { openDialog } from "../accounts/dialog.ts";
import type { Plan } from "../accounts/messages.ts";
import { make } from "../site/elements.ts";
import { createPlan, type PlanLimits, updatePlan } from "./api.ts";
import { labelled } from "./fields.ts";

const FIELDS = [
  { name: "requestsPerSecond", label: "Requests per second", step: "any", min: 0.001 },
  { name: "burst", label: "Requests at once", step: "1" },
  { name: "requestsPerMonth", label: "Requests per month", step: "1" },
  { name: "maxImageBytes", label: "Size of an image in bytes", step: "1" },
  { name: "maxGalleries", label: "Galleries of a user", step: "1" },
  { name: "maxGalleryFaces", label: "Faces in a gallery", step: "1" },
] as const;

/** Asks for the limits of a plan and stores them. Without a plan, it asks for the name of a new one. */
export function askForPlan(plan: Plan | undefined, onDone: () => Promise<void>): void {
  const name = make("input", { id: "plan-name", required: true, maxlength: 100, autocomplete: "off" });
  const inputs = FIELDS.map((field) => ({
    name: field.name,
    label: field.label,
    input: make("input", {
      id: `plan-${field.name}`,
      type: "number",
      min: "min" in field ? field.min : 1,
      step: field.step,
      value: plan?.[field.name],
    }),
  }));
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
    ],
    submit: {
      label: plan ? "Save limits" : "Add plan",
      run: async () => {
        const texts = inputs.map(({ name, input }) => [name, input.value.trim()] as const);
        if (plan) await updatePlan(plan.name, changedLimits(texts));
        else await createPlan(name.value.trim(), givenLimits(texts));
        await onDone();
      },
    },
  });
}

type Texts = readonly (readonly [name: (typeof FIELDS)[number]["name"], text: string])[];

function givenLimits(texts: Texts): PlanLimits {
  return Object.fromEntries(
    texts.filter(([, text]) => text !== "").map(([name, text]) => [name, Number(text)]),
  );
}

/** 0 removes a limit; the burst cannot be removed. */
function changedLimits(texts: Texts): PlanLimits {
  return Object.fromEntries(
    texts
      .filter(([name, text]) => name !== "burst" || text !== "")
      .map(([name, text]) => [name, Number(text)]),
  );
}
