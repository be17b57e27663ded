import { cancelled } from "../site/request.ts";
import { RequestError } from "../site/request-error.ts";
import type { EnrolRow } from "./enrol-row.ts";
import { enrolPhoto, faceIdOf } from "./enrolment.ts";
import type { KnownCrops } from "./face-crop.ts";
import { doubtFrom } from "./person-doubt.ts";

/** What became of a photo; `stop` if the other photos of a folder would fail as well. */
export type RowOutcome = "enrolled" | "other" | "stop";

/** The status of errors that are not the fault of a photo: the key, the gallery, the quota. */
const LASTING_STATUSES = [401, 403, 404, 429];
/** The gallery is full. */
const TOO_MANY_FACES = "6006";

/** Enrols the photo of a row and shows the outcome in it. */
export async function enrolRow(row: EnrolRow, signal: AbortSignal, crops: KnownCrops): Promise<RowOutcome> {
  const { file, faceIds } = row;
  const enrolment = row.enrolment!;
  row.send();
  try {
    if (signal.aborted) throw cancelled();
    // A folder can be chosen again: only its new photos are sent.
    const knownId = faceIds && (await faceIdOf(file));
    if (knownId && faceIds.has(knownId)) {
      row.skip();
      return "other";
    }
    const onProgress = (share: number) => row.send(share);
    const sent = { ...enrolment, faceId: knownId };
    const { faceId, quality, crop } = await enrolPhoto(file, sent, { signal, onProgress });
    faceIds?.add(faceId);
    crops.add(enrolment.galleryId, enrolment.personId, faceId, crop);
    row.succeed(crop, quality);
    return "enrolled";
  } catch (error) {
    const doubt = await doubtFrom(error, enrolment);
    if (doubt) row.ask(doubt);
    else row.fail(error);
    return isLasting(error) ? "stop" : "other";
  }
}

function isLasting(error: unknown): boolean {
  if (!(error instanceof RequestError)) return false;
  const { kind, status = 0, code } = error.facts;
  return kind !== "service" || LASTING_STATUSES.includes(status) || code === TOO_MANY_FACES;
}
