import type { Photo } from "./photo.ts";

const SIZE = { width: 480, height: 270 };

/** Reads a web address. Undefined if the text is none that the service could fetch. */
export function parseAddress(text: string): URL | undefined {
  const trimmed = text.trim();
  if (!/^https?:\/\/\S+$/i.test(trimmed) || !URL.canParse(trimmed)) return undefined;
  return new URL(trimmed);
}

/**
 * Creates a photo that the service fetches. The page does not fetch it itself, which would tell the other site about the
 * visitor, and which that site may not allow. A drawing stands in its place.
 */
export async function createUrlPhoto(url: URL): Promise<Photo> {
  const image = new Image();
  image.src = `data:image/svg+xml,${encodeURIComponent(drawPlaceholder(url.host))}`;
  await image.decode();
  const name = decodeName(url) || url.host;
  return { file: new Blob(), url: url.href, name, image, ...SIZE, isAccepted: true, faces: [] };
}

/** The last part of the path, readable. */
function decodeName({ pathname }: URL): string {
  const last = pathname.slice(pathname.lastIndexOf("/") + 1);
  try {
    return decodeURIComponent(last);
  } catch {
    return last;
  }
}

/** The host of a URL is ASCII without characters that are special in XML. */
function drawPlaceholder(host: string): string {
  const { width, height } = SIZE;
  const shown = host.length > 40 ? `${host.slice(0, 39)}…` : host;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">
<rect width="100%" height="100%" fill="#3d4654"/>
<g fill="none" stroke="#c3cad6" stroke-width="3"><circle cx="240" cy="105" r="38"/><ellipse cx="240" cy="105" rx="17" ry="38"/><path d="M202 105h76"/></g>
<g fill="#ffffff" font-family="system-ui, sans-serif" text-anchor="middle"><text x="240" y="185" font-size="20">Fetched by the service</text><text x="240" y="213" font-size="16" fill="#c3cad6">${shown}</text></g>
</svg>`;
}
