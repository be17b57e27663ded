import { make } from "./elements.ts";

/** What each stage of the service does, in its order. */
const STAGES: Readonly<Record<string, string>> = {
  decode: "Decode",
  find: "Find faces",
  attributes: "Age and gender",
  embed: "Vector",
};

/** Lists how long each stage took, over all photos, and the way there and back. */
export function drawTimes(milliseconds: Readonly<Record<string, number>>, roundTripMs: number): HTMLElement {
  const stages = Object.entries(STAGES).filter(([stage]) => stage in milliseconds);
  const rows = stages.map(([stage, name]) => [name, milliseconds[stage]!] as const);
  const longest = Math.max(roundTripMs, ...rows.map(([, time]) => time));
  const list = make("dl", { class: "times" });
  for (const [name, time] of [...rows, ["Round trip", roundTripMs] as const]) {
    const bar = make("span", { class: "bar", "aria-hidden": "true" });
    bar.style.setProperty("--part", `${(100 * time) / longest}%`);
    list.append(make("dt", {}, name), make("dd", {}, bar, make("span", {}, `${time.toFixed(0)} ms`)));
  }
  return list;
}
