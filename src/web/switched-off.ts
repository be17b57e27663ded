// What the site leaves out because the operator has switched it off.
import type { Permission } from "../permissions.ts";
import { PAGES, type Page } from "./page-table.ts";

/** What every request of an operation needs, by the id of the operation in the OpenAPI document. */
export type Needs = Readonly<Record<string, readonly Permission[]>>;

/** What is switched off for the whole service, and what operations need. */
export interface SwitchedOff {
  readonly off: readonly Permission[];
  readonly needs: Needs;
}

/** Values and fields of the OpenAPI document, by the permission without which it has none of them. */
const FEATURES: Readonly<Partial<Record<Permission, string>>> = {
  landmarks: "FEATURE_LANDMARKS",
  attributes: "FEATURE_ATTRIBUTES",
  embeddings: "FEATURE_EMBEDDING",
};

/** The parts of an OpenAPI document that change. */
interface OpenApi {
  readonly paths: Record<string, Record<string, { readonly operationId?: string }>>;
  readonly components: {
    readonly schemas: Record<string, { enum?: string[]; readonly properties?: Record<string, unknown> }>;
  };
}

/** Returns the features of an analysis that need one of these permissions. */
export function featuresOf(permissions: readonly Permission[]): unknown[] {
  return permissions.flatMap((permission) => FEATURES[permission] ?? []);
}

/** Returns the ids of the operations that cannot be called without these permissions. */
export function operationsWithout(off: readonly Permission[], needs: Needs): string[] {
  return Object.keys(needs).filter((id) => needs[id]?.some((permission) => off.includes(permission)));
}

/** Whether a page has nothing to show. */
export function isPageOff({ permissions }: Page, off: readonly Permission[]): boolean {
  return permissions?.every((permission) => off.includes(permission)) ?? false;
}

/** Removes the links to pages that are not served from the navigation. */
export function withoutLinks(html: string, { off }: Pick<SwitchedOff, "off">): string {
  return PAGES.filter((page) => isPageOff(page, off)).reduce(
    (text, { path }) => text.replaceAll(new RegExp(`<a href="\\.${path}"[^>]*>[^<]*</a>\\s*`, "g"), ""),
    html,
  );
}

/** Removes operations, features and the URLs of images from the OpenAPI document. */
export function withoutOperations(document: string, { off, needs }: SwitchedOff): string {
  const operations = operationsWithout(off, needs);
  const { paths, components, ...rest } = JSON.parse(document) as OpenApi;
  const kept = Object.entries(paths).flatMap(([path, methods]) => {
    const entries = Object.entries(methods).filter(([, one]) => !operations.includes(one.operationId ?? ""));
    return entries.length > 0 ? [[path, Object.fromEntries(entries)] as const] : [];
  });
  const { V1Feature: features, V1Image: image } = components.schemas;
  const featuresOff = featuresOf(off);
  if (features?.enum) features.enum = features.enum.filter((value) => !featuresOff.includes(value));
  if (off.includes("urls")) delete image?.properties?.url;
  return JSON.stringify({ ...rest, paths: Object.fromEntries(kept), components });
}
