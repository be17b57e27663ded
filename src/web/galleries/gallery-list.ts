import { byId, make, reporting } from "../site/elements.ts";
import { readUserId } from "../site/session.ts";
import { plural } from "../site/words.ts";
import { failureText, isCancelled } from "./failure.ts";
import { type Gallery, listGalleries } from "./gallery-api.ts";

/** Shows the user's galleries. They are links, so the selected one is in the address and survives a reload. */
export function mountGalleryList(onRead: (galleries: readonly Gallery[]) => void) {
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
  const read = async (pageToken: string) => {
    reading.abort();
    reading = new AbortController();
    try {
      const page = await listGalleries(pageToken, { signal: reading.signal });
      galleries = pageToken === "" ? page.items : [...galleries, ...page.items];
      ({ nextPageToken } = page);
      message.textContent = galleries.length === 0 ? "You have no gallery yet." : "";
    } catch (error) {
      if (isCancelled(error)) return;
      galleries = [];
      nextPageToken = "";
      message.textContent = failureText(error);
    }
    draw();
    onRead(galleries);
  };
  more.addEventListener(
    "click",
    reporting(() => read(nextPageToken)),
  );

  return {
    /** Reads the list again. */
    async refresh() {
      if (readUserId() !== "") return read("");
      reading.abort();
      galleries = [];
      nextPageToken = "";
      message.textContent = "Enter your API key to see your galleries.";
      draw();
      onRead(galleries);
    },
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
