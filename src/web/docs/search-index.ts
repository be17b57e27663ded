/** A part of the page that can be found. */
interface Part {
  readonly element: HTMLElement;
  /** In lower case. */
  readonly text: string;
  /** How much a word in this part says about its section. */
  readonly weight: number;
  /** The name of the field, which is shown with the section. */
  readonly field?: string | undefined;
}

/** A section of the guide, an operation or an error with all its parts. */
export interface Section {
  /** The id of its heading. */
  readonly id: string;
  readonly title: string;
  /** Path of the operation, or the kind of the section. */
  readonly hint: string;
  readonly method?: string | undefined;
  readonly parts: readonly Part[];
}

/** A section that has all words of a query, and its part that matches the query most closely. */
export interface Hit {
  readonly section: Section;
  readonly part: Part;
  readonly score: number;
}

const WEIGHTS = { title: 20, route: 5, field: 4, text: 1 } as const;

/** Reads all sections of the page. It takes some milliseconds, so it is done for the first search. */
export function readSections(): Section[] {
  return [
    ...select(".guide", document).map((guide) =>
      readSection(guide, "Guide", "p, li, tr", ".error *, .samples *"),
    ),
    ...select(".operation", document).map((operation) =>
      readSection(
        operation,
        textOf(operation.querySelector(".route code")),
        ".description, .route, .fields > div",
      ),
    ),
    ...select(".error", document).map((error) => readSection(error, "Error", "dd > p")),
  ];
}

function readSection(root: HTMLElement, hint: string, parts: string, excluded = ".none"): Section {
  const heading = root.querySelector<HTMLElement>("h2, h3, dt")!;
  const title = textOf(heading);
  const others = select(parts, root).filter((part) => !part.matches(excluded) && isOffered(part));
  return {
    id: heading.id || root.id,
    title,
    hint,
    method: root.querySelector<HTMLElement>(".route .method")?.textContent,
    parts: [
      { element: heading.id ? heading : root, text: title.toLowerCase(), weight: WEIGHTS.title },
      ...others.flatMap((element) => readPart(element)),
    ],
  };
}

function readPart(element: HTMLElement): Part[] {
  const field = element.querySelector<HTMLElement>(":scope > dt > code")?.textContent;
  if (field === undefined) {
    const weight = element.matches(".route, .hint") ? WEIGHTS.route : WEIGHTS.text;
    return [{ element, text: textOf(element).toLowerCase(), weight }];
  }
  // The fields in the description of a field are parts of their own.
  const description = textOf(element.querySelector(":scope > dd > p")).toLowerCase();
  return [
    { element, field, text: field.toLowerCase(), weight: WEIGHTS.field },
    { element, field, text: description, weight: WEIGHTS.text },
  ];
}

/** The style sheet of what is switched off hides some fields. */
function isOffered(element: HTMLElement): boolean {
  return element.dataset.permission === undefined || getComputedStyle(element).display !== "none";
}

/** Finds the sections that have all words of a query, best first. */
export function findHits(sections: readonly Section[], query: string): Hit[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  return sections
    .flatMap((section) => hitOf(section, words) ?? [])
    .sort((one, other) => other.score - one.score);
}

function hitOf(section: Section, words: readonly string[]): Hit | undefined {
  const found = words.map((word) => bestPart(section.parts, word));
  if (!found.every((match) => match !== undefined)) return undefined;
  const closest = found.reduce((one, other) => (other.part.weight < one.part.weight ? other : one));
  return { section, part: closest.part, score: found.reduce((sum, { score }) => sum + score, 0) };
}

function bestPart(parts: readonly Part[], word: string): { part: Part; score: number } | undefined {
  let best: { part: Part; score: number } | undefined;
  for (const part of parts) {
    const at = part.text.indexOf(word);
    if (at < 0) continue;
    const closeness = part.text === word ? 3 : at === 0 ? 2 : 1;
    const score = part.weight * closeness;
    if (score > (best?.score ?? 0)) best = { part, score };
  }
  return best;
}

function select(selector: string, root: ParentNode): HTMLElement[] {
  return [...root.querySelectorAll<HTMLElement>(selector)];
}

function textOf(element: Element | null): string {
  return element?.textContent?.trim() ?? "";
}
