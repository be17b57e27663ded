import type { Permission } from "../../permissions.ts";

/** What is switched off for the whole service. */
export interface Off {
  readonly permissions: readonly Permission[];
  /** Ids in the OpenAPI document. */
  readonly operations: readonly string[];
}

/** What the service tells its pages about itself: its version, its limits for one photo, and what is switched off. */
export interface ServiceInfo {
  readonly version: string;
  readonly maxImageBytes: number;
  readonly maxImagePixels: number;
  /** Accepted formats. */
  readonly imageFormats: readonly ("jpeg" | "png" | "webp")[];
  readonly off: Off;
}

let info: Promise<ServiceInfo | undefined> | undefined;

/** Fetches the information once; undefined if it is not available. */
export function fetchServiceInfo(): Promise<ServiceInfo | undefined> {
  info ??= fetchInfo();
  return info;
}

/** Fetches what is switched off; nothing if that is not available. */
export async function fetchOff(): Promise<Off> {
  return (await fetchServiceInfo())?.off ?? { permissions: [], operations: [] };
}

/** Hides the parts of the page whose `data-permission` names what is switched off, also parts that are added later. */
export async function hideSwitchedOff(): Promise<void> {
  const { permissions } = await fetchOff();
  if (permissions.length === 0) return;
  const sheet = new CSSStyleSheet();
  const parts = permissions.map((permission) => `[data-permission~="${permission}"]`);
  sheet.replaceSync(`:root :is(${parts.join()}) { display: none !important; }`);
  document.adoptedStyleSheets.push(sheet);
}

async function fetchInfo(): Promise<ServiceInfo | undefined> {
  try {
    const response = await fetch(new URL("service-info.json", document.baseURI));
    return response.ok ? await response.json() : undefined;
  } catch {
    return undefined;
  }
}
