import { placeOver } from "../photos/draw-face.ts";
import { drawQuality } from "../photos/draw-quality.ts";
import type { Box, Size } from "../photos/geometry.ts";
import { actionRow, make, makeButton, visuallyHidden } from "../site/elements.ts";
import { drawFacts } from "../site/facts.ts";
import { POPULATION_NAMES } from "../site/populations.ts";
import { shareText } from "../site/rates.ts";
import { cropFace } from "./face-crop.ts";
import { type Identification, type IdentifiedFace, MAX_DISTANCE, type PersonMatch } from "./gallery-api.ts";
import { nameOf } from "./people-list.ts";

/** What a search has found, and how to show it. */
export interface IdentificationView {
  readonly image: HTMLImageElement;
  readonly found: Identification;
  /** The same faces with the nearest people at any distance, if the user asked for them. */
  readonly nearest: Identification | undefined;
  onShowNearest(): unknown;
}

/** Space for a face's number above its box, as a share of the photo's height. */
const NUMBER_SPACE = 0.12;

/** Draws numbered boxes over a photo of this size. */
export function drawFaceBoxes(size: Size, faces: readonly IdentifiedFace[]): HTMLElement[] {
  return faces.map(({ box, matches }, i) => {
    const classes = ["face-box", matches.length > 0 ? "known" : "unknown"];
    if (box.y1 < NUMBER_SPACE * size.height) classes.push("below");
    const number = make("span", { class: "number" }, String(i + 1));
    const frame = make("div", { class: classes.join(" "), "aria-hidden": "true" }, number);
    placeOver(frame, box, size);
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
  const { faces, stale } = found;
  if (faces.length === 0) return [make("p", {}, "No face was found in this photo.")];
  const rows = faces.map((face, i) =>
    make(
      "li",
      { class: "identified" },
      cropFace(image, face.box, `Face ${i + 1}`),
      make("div", {}, ...drawVerdict(face, candidatesFor(face, nearest), i + 1)),
    ),
  );
  return [
    ...(stale ? [drawNotice(STALE)] : []),
    make("ol", { class: "plain-list" }, ...rows),
    ...(faces.some(({ matches }) => matches.length === 0) && !nearest
      ? [actionRow(makeButton("Show the nearest people of unknown faces", onShowNearest))]
      : []),
  ];
}

const STALE =
  "The database cannot be reached. Names are missing, recent changes may be missing, and somebody who was deleted may still appear.";
const MUST_CHECK = "A person must check it.";
const HINTS: Readonly<Record<string, string>> = {
  CANDIDATES_REASON_GALLERY_SIZE: `Only a hint: this gallery has more than 10,000 faces. ${MUST_CHECK}`,
  CANDIDATES_REASON_POPULATION: `Only a hint: in a gallery of this size, people like this one are mistaken for each other too often. ${MUST_CHECK}`,
};

/** Draws the name, the verdict and the distance; the other numbers on demand. */
function drawVerdict(
  identified: IdentifiedFace,
  nearest: readonly PersonMatch[],
  number: number,
): HTMLElement[] {
  const { matches, threshold, candidatesOnly, candidatesReason = "" } = identified;
  const [best, ...others] = matches;
  const numeral = make("span", { class: "numeral", "aria-hidden": "true" }, String(number));
  const face = visuallyHidden(`Face ${number}: `);
  const drawWho = (style: string, name: string) => make("p", { class: `who ${style}` }, numeral, face, name);
  if (!best)
    return [
      drawWho("unknown", "Unknown"),
      ...(nearest.length > 0
        ? [
            make("p", { class: "hint" }, "Nearest people, all above the threshold:"),
            drawPeople(nearest, threshold, false),
          ]
        : [make("p", {}, "Nobody in this gallery is near enough.")]),
      ...drawQuality(identified),
      drawNumbers(identified),
    ];
  const distance = `at distance ${distanceText(best)}`;
  const also = others.length > 0 ? ` Also near enough: ${others.map(nameOf).join(", ")}.` : "";
  return [
    candidatesOnly ? drawWho("known", `Perhaps ${nameOf(best)}`) : drawWho("known good", nameOf(best)),
    ...(candidatesOnly ? [drawNotice(HINTS[candidatesReason] ?? `Only a hint. ${MUST_CHECK}`)] : []),
    make("p", {}, `${candidatesOnly ? "A candidate" : "A match"}, ${distance}.${also}`),
    ...drawQuality(identified),
    drawNumbers(identified, drawPeople(matches, threshold, true)),
  ];
}

/** Draws what says how sure the verdict is. */
function drawNumbers(
  { threshold, falsePositiveRate, population }: IdentifiedFace,
  ...people: readonly HTMLElement[]
): HTMLElement {
  const facts = [
    ["A match is", `below ${threshold.toFixed(3)}`],
    [
      "Mistaken for somebody in a gallery of this size",
      falsePositiveRate === undefined
        ? "not measured at this threshold"
        : `about ${shareText(falsePositiveRate, "strangers")}`,
    ],
    ["This holds for", POPULATION_NAMES[population]],
  ] as const;
  return make("details", {}, make("summary", {}, "How sure is this?"), ...people, drawFacts(facts));
}

/** Draws people with their distances, each with a bar that ends at the largest distance. */
function drawPeople(people: readonly PersonMatch[], threshold: number, isMatch: boolean): HTMLElement {
  const rows = people.map((match) => {
    const bar = make("span", { class: "distance-bar", "aria-hidden": "true" });
    bar.style.setProperty("--distance", String(match.distance / MAX_DISTANCE));
    bar.style.setProperty("--threshold", String(threshold / MAX_DISTANCE));
    return make(
      "li",
      { class: isMatch ? "match" : "no-match" },
      // One person alone is named above already.
      make("span", {}, isMatch && people.length === 1 ? "Distance" : nameOf(match)),
      bar,
      make("span", { class: "figure" }, visuallyHidden("distance "), distanceText(match)),
    );
  });
  return make("ul", { class: "plain-list candidates" }, ...rows);
}

function drawNotice(text: string): HTMLElement {
  return make("p", { class: "notice" }, text);
}

function distanceText({ distance }: PersonMatch): string {
  return distance.toFixed(2);
}

/** The people near a face in another search of the same photo. */
function candidatesFor({ box }: IdentifiedFace, nearest: Identification | undefined): readonly PersonMatch[] {
  return nearest?.faces.find((face) => isEqual(face.box, box))?.matches ?? [];
}

function isEqual(one: Box, other: Box): boolean {
  return one.x1 === other.x1 && one.y1 === other.y1 && one.x2 === other.x2 && one.y2 === other.y2;
}
