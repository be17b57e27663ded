import { Code } from "@connectrpc/connect";
import { ERROR_KINDS, ERRORS, reasonFromKind } from "../../src/service/error-table.ts";
import { code, element, link } from "./html.ts";
import { inlineToHtml } from "./markdown.ts";

/** Every error of the error table with its cause and remedy. */
export function errorList(): string {
  const entries = ERROR_KINDS.map((kind) => {
    const { code: number, grpc, http, retryable, text, cause, remedy } = ERRORS[kind];
    const reason = reasonFromKind(kind);
    const facts = [
      `HTTP ${http}`,
      grpcName(grpc),
      `code ${number}`,
      retryable ? "can be retried" : "do not retry",
    ];
    return element(
      "div",
      { class: "error", id: `error-${reason}` },
      `<dt>${link(`#error-${reason}`, code(reason))}</dt>`,
      `<dd><p class="hint">${facts.join(" · ")}</p>`,
      `<p>${inlineToHtml(text)}</p>`,
      `<p><strong>Cause:</strong> ${inlineToHtml(cause)}</p>`,
      `<p><strong>Remedy:</strong> ${inlineToHtml(remedy)}</p></dd>`,
    );
  });
  return element("dl", { class: "error-list" }, ...entries);
}

/** The name of a gRPC status as specifications write it. */
export function grpcName(grpc: Code): string {
  return Code[grpc].replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
}
