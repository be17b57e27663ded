/** What the service tells its pages about itself: its version and its limits for one photo. */
export interface ServiceInfo {
  readonly version: string;
  readonly maxImageBytes: number;
  readonly maxImagePixels: number;
  /** Accepted formats. */
  readonly imageFormats: readonly ("jpeg" | "png" | "webp")[];
}

let info: Promise<ServiceInfo | undefined> | undefined;

/** Fetches the information once; undefined if it is not available. */
export function fetchServiceInfo(): Promise<ServiceInfo | undefined> {
  info ??= fetchInfo();
  return info;
}

async function fetchInfo(): Promise<ServiceInfo | undefined> {
  try {
    const response = await fetch(new URL("service-info.json", document.baseURI));
    return response.ok ? await response.json() : undefined;
  } catch {
    return undefined;
  }
}
