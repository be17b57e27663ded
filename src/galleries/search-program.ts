// The program of the search process: it keeps galleries in memory and searches them. Only SearchProcess starts it.
import { FalseMatchCurve } from "../core/false-match-curve.ts";
import { openDatabase } from "../database/open-database.ts";
import { GallerySearch } from "./gallery-search.ts";
import {
  type SearchMessage,
  type SearchResponse,
  type SearchSettings,
  serializeFailure,
} from "./search-messages.ts";
import { createSqlGalleryStore } from "./sql-gallery-store.ts";

// A terminal sends Ctrl-C to the whole process group, but only the parent decides when to stop.
process.on("SIGINT", () => {});
process.on("SIGTERM", () => {});

// This also ends the process if the parent has died.
process.on("disconnect", () => process.exit());

let settings: SearchSettings;
let opening: Promise<GallerySearch> | undefined;

process.on("message", (message: SearchMessage) => {
  if (message.type === "open") {
    settings = message.settings;
    return;
  }
  const { id, request } = message;
  // A database that cannot be opened is tried again by the next search.
  opening ??= open(settings).catch((error: unknown) => {
    opening = undefined;
    throw error;
  });
  opening
    .then((galleries) => galleries.search(request))
    .then(
      (result) => send({ id, ok: true, result }),
      (error: unknown) => send({ id, ok: false, error: serializeFailure(error) }),
    );
});

async function open({ location, calibration, maxBytes, graceMs }: SearchSettings): Promise<GallerySearch> {
  const store = createSqlGalleryStore(await openDatabase(location, { mustExist: true }));
  return new GallerySearch({ store, curve: new FalseMatchCurve(calibration), maxBytes, graceMs });
}

function send(response: SearchResponse): void {
  // Sending fails only if the parent has closed the channel, and then `disconnect` follows.
  process.send?.(response, undefined, undefined, () => {});
}
