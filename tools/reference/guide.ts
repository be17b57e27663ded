import { readFileSync } from "node:fs";
import { join } from "node:path";
import { PACKAGE_ROOT } from "../../src/package-root.ts";
import { errorList } from "./error-list.ts";
import { codeBlock } from "./highlight.ts";
import { element } from "./html.ts";
import { markdownToHtml } from "./markdown.ts";
import type { Document } from "./openapi.ts";
import { sampleTabs } from "./sample-tabs.ts";

/** A section of the guide, which comes before the operations. */
export interface GuideSection {
  readonly id: string;
  readonly title: string;
  readonly html: string;
}

/** All sections of the guide. */
export function guideSections(document: Document): GuideSection[] {
  return [
    section("quickstart", "Quickstart", quickstart()),
    section("authentication", "Authentication", markdownToHtml(AUTHENTICATION)),
    section("requests", "Requests and images", markdownToHtml(REQUESTS)),
    section("headers", "Response headers", headers(document)),
    section("errors", "Errors", `${markdownToHtml(ERRORS_INTRODUCTION)}${errorList()}`),
    section("streams", "Streams", markdownToHtml(STREAMS)),
    section("limits", "Limits", limits()),
  ];
}

function section(id: string, title: string, html: string): GuideSection {
  return { id, title, html };
}

function quickstart(): string {
  return [
    markdownToHtml(
      "Start the service, which creates a trial user and stores its key. You need Node 20.19 or newer.",
    ),
    codeBlock("shell", "npm ci && npm start", "Command that starts the service"),
    markdownToHtml("In another terminal, set the key. If an operator gave you one, use that instead:"),
    codeBlock("shell", 'export VISAGE_KEY="$(cat data/trial-user)"', "Command that sets the key"),
    element(
      "div",
      { "data-operation": "v1AnalyzeImage" },
      markdownToHtml("Measure the faces of a photo. The samples read the key from `VISAGE_KEY`."),
      sampleTabs({ operation: "v1AnalyzeImage", images: [{ field: "image", file: "photo.jpg" }] }),
    ),
    markdownToHtml(QUICKSTART_CLIENTS),
  ].join("");
}

const QUICKSTART_CLIENTS = `Each sample begins with the published package of its client. A checkout of Visage has the clients too:

| language | command |
|---|---|
| Python 3.9 | \`pip install ./sdks/python\` |
| TypeScript, Node 20.19 | \`npm run pack:client\`, then \`npm install visage-client-0.1.0.tgz\` |
| Go 1.23 | \`go mod edit -replace=github.com/visage-face/visage/sdks/go=../visage/sdks/go\`, and \`go mod tidy\` once your code imports it |
| Java 17 | \`mvn install -DskipTests\` in \`sdks/java\`, then the dependency \`dev.visage:visage-client:0.1.0\` |

The clients call the service over gRPC, retry as it asks, and have one error type. Other languages can use any gRPC or HTTP library, or a client that is generated from the [OpenAPI document](openapi.json) or the contracts: [typed API](proto/face_analysis.proto), [original API](proto/face.proto).

Which operation to call:

- Find and measure faces: [AnalyzeImage](#v1AnalyzeImage), and [AnalyzeImages](#v1AnalyzeImages) for many photos.
- Decide whether two photos show the same person: [CompareFaces](#v1CompareFaces).
- Find out who somebody is: [galleries](#GalleryService).
- Keep a program of the original service: the [original API](#FaceService).`;

const AUTHENTICATION = `Every request carries a key of its user, except health checks, reflection and these pages. Send it in one of these headers; over gRPC they are metadata with the same names.

| header | notes |
|---|---|
| \`Authorization: Bearer KEY\` | The usual choice. Clients, gateways and log filters know it. |
| \`x-api-key: KEY\` | For programs that can set one header and nothing else. |
| \`user_id: KEY\` | The header of the original service. nginx and other proxies drop headers with an underscore unless they are configured. |

- With TLS, a client certificate can replace the key, if the operator has assigned its common name to the user.
- A request without a valid key fails with [NO_USER_ID](#error-NO_USER_ID) or [UNKNOWN_USER](#error-UNKNOWN_USER) before its body is read. A client address may fail 50 times at once, then twice per second.
- Keys are secrets: whoever has one can use the user's quota and galleries. A web page should have a key of its own with a small plan.
- The forms on this page use the API key that you enter on any page. It stays in this browser.`;

const REQUESTS = `One port serves gRPC, gRPC-Web, Connect and plain HTTP. All return the same results and errors. This page shows plain HTTP; the name of the RPC is below each path.

- Send an image as a file part of a form (\`multipart/form-data\`). In JSON, send it as Base64, as a data URI, or as an http(s) URL that the service fetches.
- Parameters other than images can be in the query or in the body. The query wins. A list repeats its name.
- Images are JPEG or PNG; the bytes decide, not the name. By default they have at most 10 MiB and 40 megapixels. About 1024 pixels are enough.
- The EXIF orientation is applied first. All coordinates are pixels of the upright image. A box is \`x1,y1,x2,y2\`.
- Images are not stored. Embeddings are stored only in galleries.
- Age and gender are estimates of how a face looks to people who label photographs. They are not facts about a person.
- All operations are idempotent, except those that create a gallery, key, user or plan, and UpdateUser with \`extendDays\`.`;

const STREAMS = `[AnalyzeImages](#v1AnalyzeImages) measures any number of images on one stream: over gRPC, over Connect with HTTP/2, and over plain HTTP as lines of JSON (\`application/x-ndjson\`). Exports and imports of galleries are lines of JSON, too.

- Send and read at the same time. The service takes the next image when earlier ones are done and their responses were read.
- Responses come as they are ready. Each repeats the \`key\` of its request, which is any text that you choose.
- An image that fails has an \`error\`, and the stream goes on. Every image counts like a request.
- A stream without an image in progress ends after 30 seconds with [REQUEST_TOO_SLOW](#error-REQUEST_TOO_SLOW).
- A stream may end early with [DRAINING](#error-DRAINING). Open a new one and send the images that have no response. The clients do this.
- curl needs \`-T .\`, as \`-d\` waits for the end of the input.`;

const ERRORS_INTRODUCTION = `Let your program decide by \`reason\`. Reasons and codes never change their meaning; the message is for people and may change.

- The typed API and galleries answer with \`google.rpc.Status\` as JSON: \`code\` (of gRPC), \`message\`, \`details\`, and \`reason\` and \`retryable\` at the top.
- The original API answers with its envelope: \`status\`, \`code\`, \`success\`, \`message\`, and \`data\` with \`reason\` and \`retryable\`.
- Over gRPC the status carries \`google.rpc.ErrorInfo\` with the same reason, and \`RetryInfo\`, \`QuotaFailure\` or \`BadRequest\` where they apply.
- Retry only errors whose \`retryable\` is true, and wait as long as \`Retry-After\` says. Retry [INTERNAL](#error-INTERNAL) once.
- \`x-visage-image\` names the image that caused the error. Give \`x-request-id\` to the operator if you need help.`;

function headers({ components }: Document): string {
  const rows = Object.entries(components.headers).map(
    ([name, { description }]) => `| \`${name}\` | ${description} |`,
  );
  return markdownToHtml(["| header | meaning |", "|---|---|", ...rows].join("\n"));
}

/** The limits of SECURITY.md, which a test compares with the code. */
function limits(): string {
  const text = readFileSync(join(PACKAGE_ROOT, "SECURITY.md"), "utf8");
  const table = /^## Limits$[\s\S]*?(\n\|[\s\S]*?)\n\n/m.exec(text)?.[1];
  if (!table) throw new Error("SECURITY.md has no table of limits.");
  const introduction =
    "A plan limits the requests per second and per month, the size of images, the number of galleries and the faces in each. The headers `ratelimit-*` show what remains. The limits below apply to every user. Names in capitals are settings of the operator.";
  return `${markdownToHtml(introduction)}${markdownToHtml(table)}`;
}
