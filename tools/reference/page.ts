import { type GuideSection, guideSections } from "./guide.ts";
import { element, escapeHtml, link } from "./html.ts";
import { markdownToHtml } from "./markdown.ts";
import { type Document, operationsOf, type PlacedOperation } from "./openapi.ts";
import { methodLabel, operationSection, operationTitle } from "./operation-section.ts";
import { tryForms } from "./try-forms.ts";

/** The order and the titles of the services. A service that is not listed comes last, with its own name. */
const TITLES: Readonly<Record<string, string>> = {
  FaceAnalysisService: "Analysis",
  GalleryService: "Galleries",
  AccountService: "Account",
  FaceService: "Original API",
  AdminService: "Administration",
  Health: "Health",
};

/** What to do first. The second half needs an operation that can be switched off. */
const FIRST_STEPS = markdownToHtml(
  "Get an API key from your operator, or [start a service of your own](#quickstart), which writes one.",
).replace(
  "</p>",
  ' <span data-operation="v1AnalyzeImage">Then enter the key and <a href="#try-v1AnalyzeImage">try the first request</a>: it finds the face in a sample photo.</span></p>',
);

interface Service {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly operations: readonly PlacedOperation[];
}

/** The content of the page: the table of contents, the guide, and a section for each operation. */
export function referencePage(document: Document): string {
  const guide = guideSections(document);
  const services = servicesOf(document);
  const forms = JSON.stringify(tryForms(document)).replaceAll("<", "\\u003c");
  return [
    contents(guide, services),
    '<div class="reference">',
    `<h1>API reference</h1>${FIRST_STEPS}`,
    ...guide.map(guideSection),
    ...services.map((service) => serviceSection(document, service)),
    "</div>",
    `<script type="application/json" id="try-forms">${forms}</script>`,
  ].join("\n");
}

function servicesOf(document: Document): Service[] {
  const order = Object.keys(TITLES);
  const rank = (name: string) => (order.includes(name) ? order.indexOf(name) : order.length);
  return [...document.tags]
    .sort((one, other) => rank(one.name) - rank(other.name))
    .map(({ name, description }) => ({
      name,
      title: TITLES[name] ?? name,
      description,
      operations: operationsOf(document, name),
    }));
}

function contents(guide: readonly GuideSection[], services: readonly Service[]): string {
  const item = (id: string, title: string, method?: string) =>
    `<li>${link(`#${id}`, `${method ? `${methodLabel(method)} ` : ""}${escapeHtml(title)}`)}</li>`;
  const group = (heading: string, items: readonly string[]) =>
    `<li class="group">${heading}<ul>${items.join("")}</ul></li>`;
  const groups = [
    group(
      "<span>Guide</span>",
      guide.map(({ id, title }) => item(id, title)),
    ),
    ...services.map(({ name, title, operations }) =>
      group(
        link(`#${name}`, escapeHtml(title)),
        operations.map((placed) => item(placed.operation.operationId, operationTitle(placed), placed.method)),
      ),
    ),
  ];
  return [
    '<details class="contents" open><summary>Contents <span class="current"></span></summary>',
    '<div class="contents-body"><div class="search" hidden><label for="search">Search</label><input id="search" type="search" autocomplete="off" spellcheck="false" placeholder="operation, field or error" aria-keyshortcuts="/"><p class="hint" role="status"></p></div>',
    `<ul class="hits"></ul><nav aria-label="Contents"><ul>${groups.join("")}</ul></nav></div>`,
    "</details>",
  ].join("");
}

function guideSection({ id, title, html }: GuideSection): string {
  return element(
    "section",
    { class: "guide", "aria-labelledby": id },
    `<h2 id="${id}">${link(`#${id}`, title)}</h2>`,
    html,
  );
}

function serviceSection(document: Document, { name, title, description, operations }: Service): string {
  return element(
    "section",
    { class: "service", "aria-labelledby": name },
    `<h2 id="${name}">${link(`#${name}`, escapeHtml(title))}</h2>`,
    `<div class="introduction">${markdownToHtml(description)}</div>`,
    ...operations.map((placed) => operationSection(document, placed)),
  );
}
