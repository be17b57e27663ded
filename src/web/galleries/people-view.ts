import { byId, reporting } from "../site/elements.ts";
import type { KnownCrops } from "./face-crop.ts";
import { failureText, isCancelled } from "./failure.ts";
import { listPeople, type Person } from "./gallery-api.ts";
import { drawPerson, type PeopleContext } from "./person-row.ts";

const PAGE_SIZE = 50;
/** The most that one request returns. */
const MAX_PAGE_SIZE = 1_000;

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
  const message = byId("people-message", HTMLParagraphElement);
  const problem = byId("people-problem", HTMLParagraphElement);
  const status = byId("status", HTMLParagraphElement);
  const more = byId("more-people", HTMLButtonElement);
  let galleryId = "";
  let people: readonly Person[] = [];
  let nextPageToken = "";
  let reading = new AbortController();

  const draw = () => {
    const opened = [...list.querySelectorAll<HTMLElement>("li:has(> details[open])")];
    const openIds = opened.map(({ dataset }) => dataset.person);
    const renamed = [...list.querySelectorAll<HTMLElement>("li:has(> .rename)")];
    const focused = document.activeElement;
    const drawRow = (person: Person): HTMLElement => {
      const row = drawPerson(person, context());
      const kept = renamed.find(({ dataset }) => dataset.person === person.personId);
      if (!kept) return row;
      // A name that the user is typing stays, also if an enrolment ends meanwhile.
      kept.querySelector("details")?.replaceWith(row.querySelector("details")!);
      return kept;
    };
    list.replaceChildren(...people.map(drawRow));
    if (focused instanceof HTMLElement && list.contains(focused)) focused.focus();
    for (const row of list.children)
      if (openIds.includes((row as HTMLElement).dataset.person))
        row.querySelector("details")?.toggleAttribute("open", true);
    more.hidden = nextPageToken === "";
    message.hidden = people.length > 0;
  };
  /** Reads further people, or all anew without a token. A page may have fewer than were asked for. */
  const read = async (count: number, pageToken: string) => {
    reading.abort();
    reading = new AbortController();
    const { signal } = reading;
    let found = pageToken === "" ? [] : people;
    let token = pageToken;
    const wanted = found.length + count;
    try {
      do {
        const pageSize = Math.min(MAX_PAGE_SIZE, wanted - found.length);
        const page = await listPeople(galleryId, { pageSize, pageToken: token }, { signal });
        found = [...found, ...page.items];
        token = page.nextPageToken;
      } while (token !== "" && found.length < wanted);
    } catch (error) {
      if (isCancelled(error)) return;
      problem.textContent = failureText(error);
      return;
    }
    people = found;
    nextPageToken = token;
    problem.textContent = "";
    draw();
    onRead(people);
  };
  // As many as were shown before.
  const refresh = () => read(Math.max(PAGE_SIZE, people.length), "");

  /** Runs a call and shows that it is done, or its error. Returns whether it is done. */
  const attempt = async (call: () => Promise<void>, done: string) => {
    try {
      await call();
    } catch (error) {
      problem.textContent = failureText(error);
      return false;
    }
    status.textContent = done;
    return true;
  };
  const change = async (call: () => Promise<void>, done: string) => {
    if (!(await attempt(call, done))) return;
    await refresh();
    onChange();
    // What was pressed is gone.
    title.focus();
  };
  const context = (): PeopleContext => ({
    galleryId,
    crops,
    attempt,
    change,
    redraw: reporting(async (focus) => {
      await refresh();
      list.querySelector<HTMLElement>(focus)?.focus();
    }),
    onAddPhotos,
  });
  more.addEventListener(
    "click",
    reporting(() => read(PAGE_SIZE, nextPageToken)),
  );

  return {
    /** Shows the people of a gallery. */
    show(id: string) {
      galleryId = id;
      people = [];
      nextPageToken = "";
      problem.textContent = "";
      list.replaceChildren();
      more.hidden = true;
      message.hidden = true;
      refresh().catch(reportError);
    },
    /** Reads the people again. */
    refresh,
  };
}
