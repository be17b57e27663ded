import { byId, make, reporting } from "../site/elements.ts";
import { readKey } from "../site/session.ts";
import { plural } from "../site/words.ts";
import { isCancelled } from "./failure.ts";
import { type Gallery, listGalleries } from "./gallery-api.ts";
import { showProblem } from "./problem.ts";

/**
 * Shows the user's galleries. They are links, so the selected one is in the address and survives a reload. `onRead`
 * gets undefined as long as they are not known.
 */
export function mountGalleryList(onRead: (galleries: readonly Gallery[] | undefined) => void) {
  const list = byId("gallery-list", HTMLUListElement);
  const more = byId("more-galleries", HTMLButtonElement);
  const message = byId("list-message", HTMLParagraphElement);
  let galleries: readonly Gallery[] = [];
  let nextPageToken = "";
  let selectedId: string | undefined;
  let reading = new AbortController();

  const draw = () => {
    list.replaceChildren(...galleries.map((gallery) => drawLink(gallery, selectedId)));
    more.hidden = nextPageToken === "";
  };
  const clear = () => {
    galleries = [];
    nextPageToken = "";
    draw();
    onRead(undefined);
  };
  const read = async (pageToken: string) => {
    reading.abort();
    reading = new AbortController();
    try {
      const page = await listGalleries(pageToken, { signal: reading.signal });
      galleries = pageToken === "" ? page.items : [...galleries, ...page.items];
      ({ nextPageToken } = page);
      message.textContent = galleries.length === 0 ? "You have no gallery yet." : "";
    } catch (error) {
      // What was read before stays.
      if (!isCancelled(error)) showProblem(message, error, () => read(pageToken));
      return;
    }
    draw();
    onRead(galleries);
  };
  more.addEventListener(
    "click",
    reporting(() => read(nextPageToken)),
  );

  return {
    /** Reads the list for another user. */
    async start() {
      reading.abort();
      clear();
      if (readKey() !== "") return read("");
      message.textContent = "Enter your API key to see your galleries.";
    },
    /** Reads the list again. */
    refresh: () => read(""),
    /** Marks the selected gallery. */
    mark(galleryId: string | undefined) {
      selectedId = galleryId;
      draw();
    },
  };
}

function drawLink({ galleryId, displayName, peopleCount, faceCount }: Gallery, selectedId?: string): Node {
  const link = make(
    "a",
    {
      class: "card",
      href: `#${new URLSearchParams({ gallery: galleryId })}`,
      "aria-current": galleryId === selectedId && "true",
    },
    make("strong", {}, displayName || galleryId),
    make("span", { class: "hint" }, `${countText(peopleCount)} · ${plural(faceCount, "face")}`),
  );
  return make("li", {}, link);
}

/** Writes a number of people. */
export function countText(people: number): string {
  return people === 1 ? "1 person" : `${people.toLocaleString("en")} people`;
}
