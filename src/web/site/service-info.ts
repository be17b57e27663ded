import { PERMISSION_NAMES, type Permission } from "../../permissions.ts";
import { PAGES } from "../page-table.ts";
import { isPageOff, operationsWithout } from "../switched-off.ts";
import { reporting } from "./elements.ts";
import { callService } from "./request.ts";
import { onKeyChange, readKey } from "./session.ts";
import { readFromTab, storeInTab } from "./tab-storage.ts";

/** What is switched off: for the whole service, by the plan of the session's key, or by the scopes of the key. */
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
  /** What is switched off for the whole service. */
  readonly off: readonly Permission[];
  /** What every request of an operation needs, by its id in the OpenAPI document. */
  readonly needs: Readonly<Record<string, readonly Permission[]>>;
}

let info: Promise<ServiceInfo | undefined> | undefined;

/** Fetches the information once; undefined if it is not available. */
export function fetchServiceInfo(): Promise<ServiceInfo | undefined> {
  info ??= fetchInfo();
  return info;
}

/** Fetches what is switched off. What is not available counts as nothing. */
export async function fetchOff(): Promise<Off> {
  const [service, ofKey] = await Promise.all([fetchServiceInfo(), fetchKeyOff()]);
  const permissions = PERMISSION_NAMES.filter((name) => service?.off.includes(name) || ofKey.includes(name));
  return { permissions, operations: operationsWithout(permissions, service?.needs ?? {}) };
}

/** The permissions that were switched off when the tab read them last, separated by spaces. */
const KNOWN_OFF = "off";

/**
 * Hides the parts of the page whose `data-permission` names what is switched off, also parts that are added later, and
 * the links to pages that have nothing to show. Until that is known, it hides what the page before this one did. A key
 * that changes what is switched off reloads the page, because pages build their forms only once.
 */
export function hideSwitchedOff(): void {
  const sheet = new CSSStyleSheet();
  document.adoptedStyleSheets.push(sheet);
  hideParts(sheet, readFromTab(KNOWN_OFF) ?? "");
  const hidden = readOff().then((off) => {
    hideParts(sheet, off);
    return off;
  });
  const reloadIfOther = reporting(async () => {
    const off = await hidden;
    if ((await readOff()) !== off) location.reload();
  });
  onKeyChange(reloadIfOther);
}

/** Fetches what is switched off, and remembers it for the next page. */
async function readOff(): Promise<string> {
  const off = (await fetchOff()).permissions.join(" ");
  storeInTab(KNOWN_OFF, off);
  return off;
}

function hideParts(sheet: CSSStyleSheet, offText: string): void {
  const off = offText.split(" ") as Permission[];
  const parts = off.map((permission) => `[data-permission~="${permission}"]`);
  const links = PAGES.filter((page) => isPageOff(page, off)).map(({ path }) => `nav a[href=".${path}"]`);
  sheet.replaceSync(`:root :is(${[...parts, ...links].join()}) { display: none !important; }`);
}

/** GetAccount, as far as it is used here. */
interface Account {
  readonly plan: { readonly off: readonly Permission[] };
  readonly keys: readonly { readonly current: boolean; readonly scopes: readonly Permission[] }[];
}

/** How long the account may take. The page does not wait longer to show what the service offers everybody. */
const ACCOUNT_TIMEOUT_MS = 5000;

let ofKey: { readonly key: string; readonly off: Promise<readonly Permission[]> } | undefined;

/** Fetches once for a key what its plan and its scopes switch off. A key that may not read its account hides nothing. */
function fetchKeyOff(): Promise<readonly Permission[]> {
  const key = readKey();
  if (key === "") return Promise.resolve([]);
  if (ofKey?.key !== key) ofKey = { key, off: readKeyOff(key).catch(() => []) };
  return ofKey.off;
}

async function readKeyOff(key: string): Promise<readonly Permission[]> {
  const call = { path: "v1/account", key, timeoutMs: ACCOUNT_TIMEOUT_MS };
  const { plan, keys } = (await callService<Account>(call)).body;
  const scopes = keys.find(({ current }) => current)?.scopes ?? [];
  return PERMISSION_NAMES.filter(
    (name) => plan.off.includes(name) || (scopes.length > 0 && !scopes.includes(name)),
  );
}

async function fetchInfo(): Promise<ServiceInfo | undefined> {
  try {
    const response = await fetch(new URL("service-info.json", document.baseURI));
    return response.ok ? await response.json() : undefined;
  } catch {
    return undefined;
  }
}
