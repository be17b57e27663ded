import { PhotoError } from "../photos/open-photo.ts";
import { runOnce } from "../site/dialog.ts";
import { byId, reporting } from "../site/elements.ts";
import { RequestError } from "../site/request-error.ts";
import { enrolPhoto } from "./enrolment.ts";
import type { KnownCrops } from "./face-crop.ts";
import { failureText } from "./failure.ts";
import { createGallery } from "./gallery-api.ts";

const GALLERY_ID = "sample";
/** Error code of a gallery that exists: an earlier attempt failed after it had created the gallery. */
const GALLERY_EXISTS = "6004";

/** Binds the button that creates a gallery of two people. `onCreated` gets its id and a photo to identify. */
export function mountSampleGallery(
  crops: KnownCrops,
  onCreated: (galleryId: string, probe: File) => void,
): void {
  const button = byId("create-sample", HTMLButtonElement);
  const status = byId("sample-status", HTMLParagraphElement);
  const create = async () => {
    status.textContent = "Enrolling…";
    await createGallery(GALLERY_ID, "Sample").catch(ignoreExisting);
    for (const photo of button.querySelectorAll<HTMLElement>("[data-person]")) await enrol(photo, crops);
    const probe = await fetchPhoto(button.dataset.probeSrc!);
    status.textContent = "";
    onCreated(GALLERY_ID, probe);
  };
  button.addEventListener(
    "click",
    reporting(() => runOnce(button, status, create, failureText)),
  );
}

function ignoreExisting(error: unknown): void {
  if (!(error instanceof RequestError) || error.facts.code !== GALLERY_EXISTS) throw error;
}

async function enrol({ dataset }: HTMLElement, crops: KnownCrops): Promise<void> {
  const displayName = dataset.person!;
  const personId = displayName.toLowerCase().replaceAll(" ", "-");
  const enrolment = {
    galleryId: GALLERY_ID,
    personId,
    displayName,
    skipQualityCheck: false,
    checkPerson: false,
  };
  const { faceId, crop } = await enrolPhoto(await fetchPhoto(dataset.src!), enrolment, {});
  crops.add(GALLERY_ID, personId, faceId, crop);
}

async function fetchPhoto(path: string): Promise<File> {
  try {
    const response = await fetch(new URL(path, document.baseURI));
    if (response.ok) return new File([await response.blob()], "sample.jpg", { type: "image/jpeg" });
  } catch {
    // The service cannot be reached.
  }
  throw new PhotoError("The sample photos could not be loaded.");
}
