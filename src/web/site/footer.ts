import { byId } from "./elements.ts";
import { fetchServiceInfo } from "./service-info.ts";

/** How often the health is read while the page is visible. */
const INTERVAL_MS = 30_000;

/** Shows the version and the health of the service in the footer, and keeps the health current. */
export function mountFooter(): void {
  const version = byId("site-version", HTMLSpanElement);
  const health = byId("site-health", HTMLParagraphElement);
  fetchServiceInfo()
    .then((info) => {
      version.textContent = info?.version ?? "";
    })
    .catch(reportError);
  const update = async () => {
    if (document.hidden) return;
    const { state, text } = await readHealth();
    health.dataset.state = state;
    health.textContent = text;
  };
  const updateNow = () => {
    update().catch(reportError);
  };
  updateNow();
  setInterval(updateNow, INTERVAL_MS);
  document.addEventListener("visibilitychange", updateNow);
}

async function readHealth(): Promise<{ readonly state: string; readonly text: string }> {
  try {
    const { ok } = await fetch(new URL("readyz", document.baseURI), { cache: "no-store" });
    return ok ? { state: "ready", text: "Service ready" } : { state: "not-ready", text: "Service not ready" };
  } catch {
    return { state: "unreachable", text: "Service unreachable" };
  }
}
