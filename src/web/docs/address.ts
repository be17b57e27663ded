const WRITTEN_URL = "http://localhost:8080";
const WRITTEN_GRPC = "grpcurl -plaintext ";
const WRITTEN_TARGET = "localhost:8080 ";

/** Replaces the address in the samples with that of the service that shows the page. */
export function useServiceAddress(): void {
  const url = new URL(".", document.baseURI).href.replace(/\/$/, "");
  if (url === WRITTEN_URL) return;
  for (const block of document.querySelectorAll(".sample code")) {
    const text = block.textContent;
    if (text.includes("localhost:8080")) block.textContent = withAddress(text, url);
  }
}

/** Writes a sample for another address. */
export function withAddress(sample: string, url: string): string {
  const { host, port, protocol } = new URL(url);
  const isTls = protocol === "https:";
  const target = port ? host : `${host}:${isTls ? 443 : 80}`;
  return sample
    .replaceAll(WRITTEN_URL, url)
    .replaceAll(WRITTEN_TARGET, `${target} `)
    .replaceAll(WRITTEN_GRPC, isTls ? "grpcurl " : WRITTEN_GRPC);
}
