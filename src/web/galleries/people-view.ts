import { byId, makeButton, reporting } from "../site/elements.ts";
import { RequestError } from "../site/request-error.ts";
import type { KnownCrops } from "./face-crop.ts";
import { isCancelled } from "./failure.ts";
import { getPerson, type Person } from "./gallery-api.ts";
import { findPeople, sortPeople } from "./people-list.ts";
import { editPerson } from "./person-dialogs.ts";
import { drawPerson, type Outcome, type PeopleContext } from "./person-row.ts";
import { showProblem } from "./problem.ts";
import { readPeople } from "./read-people.ts";

/** The most people that the page reads to list and search them. */
const MAX_PEOPLE = 10_000;

/** How many people are shown at once. */
const PAGE_SIZE = 50;
const PERSON_NOT_FOUND = "6002";

/** What the list tells the rest of the page. */
interface PeopleViewOptions {
  readonly crops: KnownCrops;
  onRead(people: readonly Person[]): void;
  /** Called after people or faces have changed. */
  onChange(): void;
  onAddPhotos(person: Person): void;
}

/** Binds the list of people. */
export function mountPeopleView({ crops, onRead, onChange, onAddPhotos }: PeopleViewOptions) {
  const list = byId("people", HTMLUListElement);
  const title = byId("people-title", HTMLHeadingElement);
  const search = byId("people-search", HTMLInputElement);
  const message = byId("people-message", HTMLParagraphElement);
  const problem = byId("people-problem", HTMLParagraphElement);
  const outcome = byId("people-outcome", HTMLDivElement);
  const status = byId("people-status", HTMLParagraphElement);
  const more = byId("more-people", HTMLButtonElement);
  let galleryId = "";
  let people: readonly Person[] = [];
  let isCut = false;
  let maxShown = PAGE_SIZE;
  let reading: AbortController | undefined;

  const draw = () => {
    const found = findPeople(people, search.value);
    const shown = found.slice(0, maxShown);
    const restore = keepPlace(list, title);
    list.replaceChildren(...shown.map((person) => drawPerson(person, context())));
    restore();
    more.hidden = shown.length === found.length;
    search.hidden = people.length === 0;
    message.textContent = messageText(found.length, people.length, isCut);
  };
  const setPeople = (now: readonly Person[]) => {
    people = sortPeople(now);
    draw();
    onRead(people);
  };
  /** Reads everybody. */
  const refresh = async () => {
    reading?.abort();
    const controller = new AbortController();
    reading = controller;
    const onProgress = (count: number) => {
      // Later pages of a large gallery take a while.
      if (people.length === 0) message.textContent = `Reading… ${count.toLocaleString("en")} people`;
    };
    try {
      const read = await readPeople(galleryId, { max: MAX_PEOPLE, signal: controller.signal, onProgress });
      problem.replaceChildren();
      ({ isCut } = read);
      setPeople(read.people);
    } catch (error) {
      if (isCancelled(error)) return;
      message.textContent = "";
      showProblem(problem, error, refresh);
    } finally {
      if (reading === controller) reading = undefined;
    }
  };
  /** Reads some people after a change. */
  const reread = async (ids: readonly string[]) => {
    const id = galleryId;
    // The list that is being read may not have the change.
    if (reading) return refresh();
    try {
      const read = await Promise.all(ids.map((personId) => findPerson(id, personId)));
      if (id !== galleryId) return;
      const others = people.filter(({ personId }) => !ids.includes(personId));
      setPeople([...others, ...read.filter((person) => person !== undefined)]);
    } catch (error) {
      showProblem(problem, error, refresh);
    }
  };
  const tell = ({ text, offer }: Outcome) => {
    status.textContent = text;
    outcome.replaceChildren(status, ...(offer ? [makeButton(offer.label, offer.save)] : []));
  };
  const context = (): PeopleContext => ({
    galleryId,
    crops,
    people,
    onAddPhotos,
    onEdit: (person) => editPerson(person, context()),
    onChanged: reporting(async (ids, done) => {
      problem.replaceChildren();
      if (done) tell(done);
      if (ids.length === 0) return;
      await reread(ids);
      onChange();
    }),
    onFailure: (text) => problem.replaceChildren(text),
  });
  const showFrom = (count: number) => {
    maxShown = count;
    draw();
  };
  more.addEventListener("click", () => showFrom(maxShown + PAGE_SIZE));
  search.addEventListener("input", () => showFrom(PAGE_SIZE));

  return {
    /** Shows the people of a gallery. */
    show(id: string) {
      galleryId = id;
      people = [];
      isCut = false;
      maxShown = PAGE_SIZE;
      search.value = "";
      problem.replaceChildren();
      tell({ text: "" });
      draw();
      message.textContent = "Reading…";
      refresh().catch(reportError);
    },
    /** Reads the people again. */
    refresh,
  };
}

function messageText(found: number, all: number, isCut: boolean): string {
  const cut = isCut
    ? ` The gallery has more people than this page reads: only the first ${MAX_PEOPLE.toLocaleString("en")} by id are listed and searched.`
    : "";
  if (all === 0) return "Nobody is enrolled yet.";
  if (found === 0) return `Nobody is named like this.${cut}`;
  const count = found === all ? "" : `${found.toLocaleString("en")} of ${all.toLocaleString("en")} people.`;
  return `${count}${cut}`.trim();
}

/** Remembers which rows are open and where the focus is. Returns what restores that in new rows. */
function keepPlace(list: HTMLElement, title: HTMLElement): () => void {
  const idOf = (row: Element | null | undefined) => (row as HTMLElement | null | undefined)?.dataset.person;
  const openIds = [...list.children].filter((row) => row.querySelector("details[open]")).map(idOf);
  const focused = document.activeElement instanceof HTMLElement ? document.activeElement : undefined;
  const hadFocus = focused !== undefined && list.contains(focused);
  const focusedId = idOf(focused?.closest("li[data-person]"));
  const action = focused?.dataset.action;
  return () => {
    const rows = [...list.children];
    for (const row of rows)
      row.querySelector("details")?.toggleAttribute("open", openIds.includes(idOf(row)));
    if (!hadFocus) return;
    const row = rows.find((one) => idOf(one) === focusedId);
    (row?.querySelector<HTMLElement>(action ? `[data-action=${action}]` : "summary") ?? title).focus();
  };
}

/** Reads a person; undefined if it does not exist any more. */
async function findPerson(galleryId: string, personId: string): Promise<Person | undefined> {
  try {
    return await getPerson(galleryId, personId);
  } catch (error) {
    if (error instanceof RequestError && error.facts.code === PERSON_NOT_FOUND) return undefined;
    throw error;
  }
}
