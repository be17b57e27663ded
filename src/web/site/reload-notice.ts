import { byId, partOf } from "./elements.ts";

/**
 * Shows the notice that offers to reload the page after every error that nothing else handles: a part of the page or a
 * file that cannot be loaded, because the service has stopped or has a new version, or a defect. Its styles show the
 * notice by themselves if the script of the page does not start.
 */
export function mountReloadNotice(): void {
  const notice = byId("reload-notice", HTMLDivElement);
  const setVisible = (isVisible: boolean) => {
    notice.dataset.state = isVisible ? "failed" : "started";
  };
  setVisible(false);
  const reload = partOf(notice, "reload", HTMLAnchorElement);
  reload.addEventListener("click", (event) => {
    // Unlike the link, this keeps the fragment of the address.
    event.preventDefault();
    location.reload();
  });
  const dismiss = partOf(notice, "dismiss", HTMLButtonElement);
  dismiss.hidden = false;
  dismiss.addEventListener("click", () => setVisible(false));
  // Errors of the browser itself, such as a layout that needs a second pass, have no error object.
  addEventListener("error", ({ error }) => {
    if (error) setVisible(true);
  });
  addEventListener("unhandledrejection", () => setVisible(true));
}
