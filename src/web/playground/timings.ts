import { make } from "../site/elements.ts";

/** Labels of the service's stages, in the order in which they run. */
const STAGES: Readonly<Record<string, string>> = {
  queue: "Queue",
  decode: "Decode",
  detect: "Detection",
  mesh: "Points",
  attributes: "Age and gender",
  embed: "Vector",
};

/** Draws how long each stage took over all photos, and the round trip as the browser measured it. */
export function drawTimings(
  milliseconds: Readonly<Record<string, number>>,
  roundTripMs: number,
): HTMLElement {
  const stages = Object.entries(STAGES).filter(([stage]) => stage in milliseconds);
  const rows = stages.map(([stage, name]) => [name, milliseconds[stage]!] as const);
  const longestMs = Math.max(roundTripMs, ...rows.map(([, timeMs]) => timeMs));
  const list = make("dl", { class: "timings" });
  for (const [name, timeMs] of [...rows, ["Round trip", roundTripMs] as const]) {
    const bar = make("span", { class: "bar", "aria-hidden": "true" });
    bar.style.setProperty("--share", `${(100 * timeMs) / longestMs}%`);
    list.append(make("dt", {}, name), make("dd", {}, bar, make("span", {}, `${timeMs.toFixed(0)} ms`)));
  }
  return list;
}
