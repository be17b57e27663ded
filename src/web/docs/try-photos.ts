/** Loads the sample photo that stands for a missing file: the first, or the second of a pair. */
export async function samplePhoto(index: number): Promise<Blob> {
  const links = document.querySelectorAll<HTMLAnchorElement>("[data-sample-photo]");
  const link = links[index % links.length];
  if (!link) throw new Error("The page has no sample photo.");
  const response = await fetch(link.href);
  if (!response.ok) throw new Error("The sample photo could not be loaded.");
  return response.blob();
}

/** Encodes a photo for JSON. */
export async function base64Of(photo: Blob): Promise<string> {
  const bytes = new Uint8Array(await photo.arrayBuffer());
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}
