import type { Page } from "./page-table.ts";

/**
 * The redirects by path: `/NAME` and `/NAME/` lead to the page, whatever its path is. The locations are relative,
 * because a proxy may serve the site below a path of its own.
 */
export function redirects(pages: readonly Page[]): ReadonlyMap<string, string> {
  const locations = new Map<string, string>();
  for (const { name, path } of pages) {
    const target = path.slice(1);
    if (path !== `/${name}`) locations.set(`/${name}`, `./${target}`);
    locations.set(`/${name}/`, `../${target}`);
  }
  return locations;
}
