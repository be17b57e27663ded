import { make, visuallyHidden } from "../site/elements.ts";
import { shareText } from "../site/rates.ts";
import { cropFace } from "./face-crop.ts";
import {
  type Box,
  type Identification,
  type IdentifiedFace,
  MAX_DISTANCE,
  type PersonMatch,
} from "./gallery-api.ts";

/** What a search has found, and how to show it. */
export interface IdentificationView {
  readonly image: HTMLImageElement;
  readonly found: Identification;
  /** The same faces with the nearest people at any distance, if the user asked for them. */
  readonly nearest: Identification | undefined;
  onShowNearest(): void;
}

/** Space for a face's number above its box, as a share of the photo's height. */
const NUMBER_SPACE = 0.12;

/** Draws numbered boxes over a photo of this size. */
export function drawFaceBoxes(
  { width, height }: { readonly width: number; readonly height: number },
  faces: readonly IdentifiedFace[],
): HTMLElement[] {
  return faces.map(({ box: { x1, y1, x2, y2 }, matches }, i) => {
    const classes = ["face-box", matches.length > 0 ? "known" : "unknown"];
    if (y1 < NUMBER_SPACE * height) classes.push("top");
    const number = make("span", {}, String(i + 1));
    const frame = make("div", { class: classes.join(" "), "aria-hidden": "true" }, number);
    frame.style.left = `${(100 * x1) / width}%`;
    frame.style.top = `${(100 * y1) / height}%`;
    frame.style.width = `${(100 * (x2 - x1)) / width}%`;
    frame.style.height = `${(100 * (y2 - y1)) / height}%`;
    return frame;
  });
}

/** Draws who the faces may be, how sure that is, and what limits the answer. */
export function drawIdentification({
  image,
  found,
  nearest,
  onShowNearest,
}: IdentificationView): HTMLElement[] {
  const { faces, candidatesOnly, stale } = found;
  if (faces.length === 0) return [make("p", {}, "No face was found in this photo.")];
  const rows = faces.map((face, i) =>
    make(
      "li",
      { class: "identified" },
      cropFace(image, face.box, `Face ${i + 1}`),
      make("div", {}, ...drawVerdict(face, found, candidatesFor(face, nearest), i + 1)),
    ),
  );
  return [
    ...(stale ? [drawNotice(STALE)] : []),
    ...(candidatesOnly ? [drawNotice(CANDIDATES_ONLY)] : []),
    make("ol", { class: "identified-list" }, ...rows),
    make("p", { class: "hint" }, thresholdText(found)),
    ...(faces.some(({ matches }) => matches.length === 0) && !nearest ? [drawMore(onShowNearest)] : []),
  ];
}

const STALE =
  "The database cannot be reached. Names are missing, recent changes may be missing, and somebody who was deleted may still appear.";
const CANDIDATES_ONLY =
  "This gallery has more than 10,000 faces. These are candidates that a person must check, not a verdict.";

function drawVerdict(
  { matches }: IdentifiedFace,
  { threshold, candidatesOnly }: Identification,
  candidates: readonly PersonMatch[],
  number: number,
): HTMLElement[] {
  const [best] = matches;
  const face = visuallyHidden(`Face ${number}: `);
  const numeral = make("span", { class: "numeral", "aria-hidden": "true" }, String(number));
  if (best) {
    const sign = candidatesOnly ? "Candidate: " : "";
    return [
      make("p", { class: "who known" }, numeral, face, sign, nameOf(best)),
      drawPeople(matches, threshold),
    ];
  }
  const unknown = make("p", { class: "who unknown" }, numeral, face, "Unknown");
  if (candidates.length === 0) return [unknown];
  const note = make("p", { class: "hint" }, "Nearest people, all above the threshold:");
  return [unknown, note, drawPeople(candidates, threshold)];
}

/** Draws people with their distances, each with a bar that ends at the largest distance. */
function drawPeople(people: readonly PersonMatch[], threshold: number): HTMLElement {
  const rows = people.map((match) => {
    const bar = make("span", { class: "distance-bar", "aria-hidden": "true" });
    bar.style.setProperty("--distance", String(match.distance / MAX_DISTANCE));
    bar.style.setProperty("--threshold", String(threshold / MAX_DISTANCE));
    const isMatch = match.distance < threshold;
    return make(
      "li",
      { class: isMatch ? "match" : "no-match" },
      // One person alone is named above already.
      make("span", {}, isMatch && people.length === 1 ? "Distance" : nameOf(match)),
      bar,
      make("span", { class: "figure" }, visuallyHidden("distance "), match.distance.toFixed(3)),
    );
  });
  return make("ul", { class: "candidates" }, ...rows);
}

function drawNotice(text: string): HTMLElement {
  return make("p", { class: "notice" }, text);
}

function drawMore(onClick: () => void): HTMLElement {
  const button = make("button", { type: "button" }, "Show the nearest people of unknown faces");
  button.addEventListener("click", onClick);
  return make("div", { class: "actions" }, button);
}

function thresholdText({ threshold, falsePositiveRate }: Identification): string {
  const rate =
    falsePositiveRate === undefined
      ? "How often strangers are mistaken for somebody at this threshold was not measured."
      : `At this threshold, about ${shareText(falsePositiveRate, "strangers")} are mistaken for somebody in this gallery.`;
  return `A match needs a distance below ${threshold.toFixed(3)}. ${rate}`;
}

function nameOf({ displayName, personId }: PersonMatch): string {
  return displayName || personId;
}

/** The people near a face in another search of the same photo. */
function candidatesFor({ box }: IdentifiedFace, nearest: Identification | undefined): readonly PersonMatch[] {
  return nearest?.faces.find((face) => isEqual(face.box, box))?.matches ?? [];
}

function isEqual(one: Box, other: Box): boolean {
  return one.x1 === other.x1 && one.y1 === other.y1 && one.x2 === other.x2 && one.y2 === other.y2;
}
