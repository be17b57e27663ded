import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { PACKAGE_ROOT } from "../../src/package-root.ts";
import { ERROR_KINDS, ERRORS, reasonFromKind } from "../../src/service/error-table.ts";
import { withAddress } from "../../src/web/docs/sample-address.ts";
import { shortJson } from "../../tools/reference/json-example.ts";
import { inlineToHtml, markdownToHtml } from "../../tools/reference/markdown.ts";
import type { Document } from "../../tools/reference/openapi.ts";
import { referencePage } from "../../tools/reference/page.ts";
import { readMarkdown, sectionUnder, tableRows } from "../support/markdown.ts";

const document = JSON.parse(readFileSync(join(PACKAGE_ROOT, "gen/openapi.json"), "utf8")) as Document;
const page = referencePage(document);
const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));

describe("the API reference", () => {
  test("has every operation and no id twice", () => {
    const ids = [...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id!);
    expect(ids).toEqual(expect.arrayContaining(operations.map(({ operationId }) => operationId)));
    expect(ids.filter((id, i) => ids.indexOf(id) !== i)).toEqual([]);
  });

  test("links only to what it contains, and to files of the service", () => {
    const links = [...page.matchAll(/ href="([^"]+)"/g)].map(([, href]) => href!);
    const missing = links.filter((href) => href.startsWith("#") && !page.includes(` id="${href.slice(1)}"`));
    expect(missing).toEqual([]);
    const others = new Set(links.filter((href) => !href.startsWith("#")));
    expect([...others].sort()).toEqual(["openapi.json", "proto/face.proto", "proto/face_analysis.proto"]);
  });

  test("explains every error with its code, cause and remedy", () => {
    for (const kind of ERROR_KINDS) {
      const { code, http, cause, remedy } = ERRORS[kind];
      const entry = new RegExp(`id="error-${reasonFromKind(kind)}"[\\s\\S]*?</dd></div>`).exec(page)?.[0];
      expect(entry).toContain(`HTTP ${http}`);
      expect(entry).toContain(`code ${code}`);
      expect(entry).toContain(inlineToHtml(cause));
      expect(entry).toContain(inlineToHtml(remedy));
    }
  });

  test("has the limits of SECURITY.md", () => {
    const rows = tableRows(sectionUnder(readMarkdown("SECURITY.md"), "Limits"));
    expect(rows.length).toBeGreaterThan(20);
    const text = page.replaceAll(/<[^>]+>/g, "");
    expect(rows.map(([what]) => what!).filter((what) => !text.includes(what))).toEqual([]);
  });

  test("contains no script of others and no text that is HTML by accident", () => {
    expect(page.match(/<script[^>]*>/g)).toEqual(['<script type="application/json" id="try-forms">']);
    expect(markdownToHtml('a <b> & `<i>` "c"')).toBe(
      "<p>a &lt;b&gt; &amp; <code>&lt;i&gt;</code> &quot;c&quot;</p>",
    );
  });
});

test("Markdown becomes paragraphs, lists and tables", () => {
  expect(markdownToHtml("One\ntwo.\n\n- **a** [b](#c)\n- d")).toBe(
    '<p>One two.</p>\n<ul><li><strong>a</strong> <a href="#c">b</a></li><li>d</li></ul>',
  );
  expect(markdownToHtml("| a | b |\n|---|---|\n| `c` | d |")).toContain(
    '<tr><th scope="row"><code>c</code></th><td>d</td></tr>',
  );
});

test("examples are shortened", () => {
  const example = {
    vector: [0.123456, 2, 3, 4, 5],
    points: [
      { x: 1, y: 2 },
      { x: 3, y: 4 },
      { x: 5, y: 6 },
    ],
    none: [],
  };
  expect(shortJson(example)).toBe(
    [
      "{",
      '  "vector": [0.1235, 2, … 3 more],',
      '  "points": [',
      '    { "x": 1, "y": 2 },',
      '    { "x": 3, "y": 4 },',
      "    … 1 more",
      "  ],",
      '  "none": []',
      "}",
    ].join("\n"),
  );
});

test.each([
  ["http://10.0.0.1:9000", "curl http://10.0.0.1:9000/x", "grpcurl -plaintext 10.0.0.1:9000 a/B"],
  ["https://faces.example", "curl https://faces.example/x", "grpcurl faces.example:443 a/B"],
])("samples call the service at %s", (url, curl, grpcurl) => {
  expect(withAddress("curl http://localhost:8080/x", url)).toBe(curl);
  expect(withAddress("grpcurl -plaintext localhost:8080 a/B", url)).toBe(grpcurl);
});
