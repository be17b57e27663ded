/** The address of the service that serves a page, without the page's own name, query and fragment. */
export function serviceAddress(pageUrl: string): string {
  return new URL(".", pageUrl).href.replace(/\/$/, "");
}
