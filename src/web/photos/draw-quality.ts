import { make } from "../site/elements.ts";
import { capitalize } from "../site/words.ts";
import { componentText, type Measures, poseText, type Quality, qualityText } from "./quality-words.ts";

/** Draws the quality and the pose in words, and their numbers on demand. */
export function drawQuality({ quality, pose }: Measures): HTMLElement[] {
  if (!quality) return [];
  const turned = pose ? poseText(pose) : "";
  const sign = make("span", { "aria-hidden": "true" }, quality.usable ? "✓ " : "✗ ");
  const words = make("p", { class: quality.usable ? "good" : "bad" }, sign, qualityText(quality));
  return [
    words,
    ...(turned ? [make("p", { class: "hint" }, capitalize(turned))] : []),
    make("details", { class: "numbers" }, make("summary", {}, "Numbers"), drawNumbers(quality)),
  ];
}

function drawNumbers({ value, components }: Quality): HTMLElement {
  const header = ["Component", "Measured", "Value"].map((name) => make("th", { scope: "col" }, name));
  const rows = components.map((component) => {
    const [name, measure] = componentText(component);
    const cells = [measure, `${component.value}%`].map((text) => make("td", {}, text));
    return make("tr", {}, make("th", { scope: "row" }, name), ...cells);
  });
  const caption = `Quality ${value}%: how likely the face matches a good photo of the same person. It is the product of these values.`;
  return make(
    "table",
    {},
    make("caption", {}, caption),
    make("thead", {}, make("tr", {}, ...header)),
    make("tbody", {}, ...rows),
  );
}
