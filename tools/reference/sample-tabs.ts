import { WRITTEN_URL } from "../../src/web/docs/sample-address.ts";
import { EXAMPLES } from "../../src/web/samples/examples.ts";
import type { OperationId, SampleRequest } from "../../src/web/samples/sample-request.ts";
import { SAMPLE_LANGUAGES } from "../../src/web/samples/samples.ts";
import { codeBlock } from "./highlight.ts";
import { element } from "./html.ts";

/** Whether an operation has samples. */
export function hasSamples(id: string): id is OperationId {
  return id in EXAMPLES;
}

/** Whether the clients of all languages have an operation. */
export function hasClientSamples(id: OperationId): boolean {
  return SAMPLE_LANGUAGES.every(
    ({ write }) => write(exampleRequest(id), { address: WRITTEN_URL }) !== undefined,
  );
}

/** The example request of an operation. */
export function exampleRequest(operation: OperationId): SampleRequest {
  return { operation, ...EXAMPLES[operation] };
}

/**
 * The samples of a request in all languages that have its operation. Without script each is opened by itself; the
 * page's script makes tabs of them. Browsers with script parse only the first, which is shown until then.
 */
export function sampleTabs(request: SampleRequest): string {
  const samples = SAMPLE_LANGUAGES.flatMap(({ id: language, name, install, write }) => {
    const text = write(request, { address: WRITTEN_URL });
    if (text === undefined) return [];
    const isShell = install === undefined;
    const block = codeBlock(isShell ? "shell" : language, text.trimEnd(), `${name} sample`);
    const isFirst = language === "curl";
    const attributes = { class: "sample", "data-language": language, open: isFirst };
    const content = isFirst ? block : `<noscript>${block}</noscript>`;
    return [element("details", attributes, `<summary>${name}</summary>`, content)];
  });
  return element("div", { class: "samples" }, ...samples);
}
