import { WRITTEN_URL, withAddress } from "./sample-address.ts";

/** Replaces the address in samples with that of the service that shows the page. */
export function useServiceAddress(samples: HTMLElement): void {
  const url = new URL(".", document.baseURI).href.replace(/\/$/, "");
  if (url === WRITTEN_URL) return;
  for (const block of samples.querySelectorAll("code")) {
    const text = block.textContent;
    if (text.includes("localhost:8080")) block.textContent = withAddress(text, url);
  }
}
