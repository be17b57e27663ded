import { createPathMatcher, type PathMatcher } from "../rest/routes.ts";
import type { Route } from "./route.ts";

/** The routes of a path. */
export interface RouteMatch<R> {
  /** One for each group of methods. */
  readonly routes: readonly R[];
  /** The variables in the path. */
  readonly variables: Readonly<Record<string, string>>;
}

/** Finds the routes of a path. */
export type Router<R> = (path: string) => RouteMatch<R> | undefined;

const NO_VARIABLES = {};

/** Creates the router of all paths. Throws if two routes have the same path and method. */
export function createRouter<R extends Route>(all: Iterable<R>): Router<R> {
  const fixed = new Map<string, R[]>();
  const templates = new Map<string, { readonly match: PathMatcher; readonly routes: R[] }>();
  const routesOf = (path: string): R[] => {
    const known = fixed.get(path) ?? templates.get(path)?.routes;
    if (known) return known;
    const routes: R[] = [];
    if (path.includes("{")) templates.set(path, { match: createPathMatcher(path), routes });
    else fixed.set(path, routes);
    return routes;
  };
  for (const route of all) {
    const routes = routesOf(route.path);
    if (routes.some(({ methods }) => methods.some((method) => route.methods.includes(method))))
      throw new Error(`Two routes have the path ${route.path}.`);
    routes.push(route);
  }
  return (path) => {
    const routes = fixed.get(path);
    if (routes) return { routes, variables: NO_VARIABLES };
    for (const template of templates.values()) {
      const variables = template.match(path);
      if (variables) return { routes: template.routes, variables };
    }
    return undefined;
  };
}
