import { byId } from "../site/elements.ts";

/** Tells whether the page may use a camera. Browsers allow it only over HTTPS and on localhost. */
export function hasCamera(): boolean {
  return "mediaDevices" in navigator && typeof navigator.mediaDevices.getUserMedia === "function";
}

/** Opens the camera dialog. Returns undefined if the user closes it without taking a photo. */
export async function takePhoto(): Promise<File | undefined> {
  const dialog = byId("camera", HTMLDialogElement);
  const problem = byId("camera-problem", HTMLParagraphElement);
  const shoot = byId("shoot", HTMLButtonElement);
  const viewfinder = byId("viewfinder", HTMLVideoElement);
  const use = byId("use-shot", HTMLButtonElement);
  const retake = byId("retake", HTMLButtonElement);
  let shot: Promise<File> | undefined;
  let isUsed = false;
  /** Shows the photo that was taken, or what the camera sees. */
  const show = (next: Promise<File> | undefined) => {
    shot = next;
    shoot.hidden = shot !== undefined;
    use.hidden = retake.hidden = shot === undefined;
    (shot ? use : shoot).focus();
  };
  problem.textContent = "";
  shoot.disabled = true;
  dialog.showModal();
  show(undefined);
  const closed = new Promise((resolve) => dialog.addEventListener("close", resolve, { once: true }));
  shoot.onclick = () => {
    viewfinder.pause();
    show(capturePhoto(viewfinder));
  };
  retake.onclick = async () => {
    await viewfinder.play();
    show(undefined);
  };
  use.onclick = () => {
    isUsed = true;
    dialog.close();
  };
  byId("leave-camera", HTMLButtonElement).onclick = () => dialog.close();

  const opening = openStream(viewfinder).then(
    (stream) => {
      shoot.disabled = false;
      shoot.focus();
      return stream;
    },
    () => {
      problem.textContent =
        "The camera is not available. Check that it is connected and that this page may use it.";
      return undefined;
    },
  );
  await closed;
  const taken = await shot;
  for (const track of (await opening)?.getTracks() ?? []) track.stop();
  viewfinder.srcObject = null;
  return isUsed ? taken : undefined;
}

async function openStream(viewfinder: HTMLVideoElement): Promise<MediaStream> {
  const stream = await navigator.mediaDevices.getUserMedia({
    video: { facingMode: "user", width: { ideal: 1280 } },
  });
  viewfinder.srcObject = stream;
  await viewfinder.play();
  return stream;
}

function capturePhoto(viewfinder: HTMLVideoElement): Promise<File> {
  const canvas = document.createElement("canvas");
  canvas.width = viewfinder.videoWidth;
  canvas.height = viewfinder.videoHeight;
  canvas.getContext("2d")?.drawImage(viewfinder, 0, 0);
  return new Promise((resolve, reject) => {
    const done = (blob: Blob | null) =>
      blob
        ? resolve(new File([blob], "camera.jpg", { type: blob.type }))
        : reject(new Error("The camera returned no picture."));
    canvas.toBlob(done, "image/jpeg", 0.92);
  });
}
