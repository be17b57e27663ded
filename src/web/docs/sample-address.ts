/** The address in the samples of the page. */
export const WRITTEN_URL = "http://localhost:8080";
const WRITTEN_PLAINTEXT = "-plaintext ";
const WRITTEN_TARGET = "localhost:8080 ";

/** Writes a sample for another address. */
export function withAddress(sample: string, url: string): string {
  const { host, port, protocol } = new URL(url);
  const isTls = protocol === "https:";
  const target = port ? host : `${host}:${isTls ? 443 : 80}`;
  return sample
    .replaceAll(WRITTEN_URL, url)
    .replaceAll(WRITTEN_TARGET, `${target} `)
    .replaceAll(WRITTEN_PLAINTEXT, isTls ? "" : WRITTEN_PLAINTEXT);
}
