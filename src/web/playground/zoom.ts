import { partOf } from "../site/elements.ts";

/** Scales of a photo, where 1 fits it into the page. */
const SCALES = [1, 1.5, 2, 3, 4, 6] as const;

/** Binds the zoom buttons of a slot. The frame keeps its size and scrolls; the middle of the view stays in place. */
export function mountZoom(root: HTMLElement) {
  const frame = partOf(root, "frame", HTMLElement);
  const stage = partOf(root, "stage", HTMLElement);
  const output = partOf(root, "zoom", HTMLSpanElement);
  const zoomOut = partOf(root, "zoom-out", HTMLButtonElement);
  const zoomIn = partOf(root, "zoom-in", HTMLButtonElement);
  let step = 0;
  const show = (next: number) => {
    const middle = [
      (frame.scrollLeft + frame.clientWidth / 2) / stage.clientWidth,
      (frame.scrollTop + frame.clientHeight / 2) / stage.clientHeight,
    ] as const;
    if (step === 0) {
      // Without a fixed size, the frame would grow with the photo.
      frame.style.width = `${frame.clientWidth}px`;
      frame.style.height = `${frame.clientHeight}px`;
    }
    step = next;
    const scale = SCALES[step]!;
    if (step === 0) frame.removeAttribute("style");
    frame.classList.toggle("zoomed", step > 0);
    // A frame that scrolls must be reachable by keyboard.
    frame.tabIndex = step > 0 ? 0 : -1;
    stage.style.width = step > 0 ? `${100 * scale}%` : "";
    output.textContent = `${100 * scale}%`;
    zoomOut.disabled = step === 0;
    zoomIn.disabled = step === SCALES.length - 1;
    frame.scrollLeft = middle[0] * stage.clientWidth - frame.clientWidth / 2;
    frame.scrollTop = middle[1] * stage.clientHeight - frame.clientHeight / 2;
  };
  zoomOut.addEventListener("click", () => show(Math.max(0, step - 1)));
  zoomIn.addEventListener("click", () => show(Math.min(SCALES.length - 1, step + 1)));
  show(0);
  /** Shows the whole photo again. */
  return { reset: () => show(0) };
}
