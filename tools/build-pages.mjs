// Builds the web pages into a folder: pages/NAME.html, and assets/ with every script, style and image that a page
// refers to. The name of an asset contains a hash of its content, so browsers may keep it forever.
//
// In the HTML of a page, `src` and `href` of a file that lies beside it start with a dot: "./main.ts", "../site/x.svg".
// `<!-- include FILE -->` inserts a part, `<!-- navigation -->` the links to all pages.
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, extname, join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { build } from "esbuild";

const SOURCE = "src/web";

/** Bundled by esbuild; everything else that a page refers to is copied. */
const BUNDLED = new Set([".ts", ".css"]);
const TEXT = new Set([".html", ".css", ".js", ".json", ".svg"]);
const REFERENCE = /\b(src|href)="(\.\.?\/[^"?#]+\.[a-z0-9]+)"/g;
const INCLUDE = /<!-- include (\S+) -->\n?/g;

/** Builds all pages of the page table into the folder of the compiled `src/web`. */
export async function buildPages(target) {
  const assets = join(target, "assets");
  const { PAGES } = await import(pathToFileURL(join(target, "page-table.js")).href);
  const pages = PAGES.map((page) => ({ ...page, html: readPage(page, PAGES, target) }));
  mkdirSync(assets, { recursive: true });
  mkdirSync(join(target, "pages"), { recursive: true });
  for (const { name, html } of pages)
    writeFileSync(join(target, "pages", `${name}.html`), await buildAssets(html, assets));
  cpSync(join(SOURCE, "site/favicon.ico"), join(target, "site/favicon.ico"));
  for (const folder of [assets, join(target, "pages")]) compressFiles(folder);
}

/** Reads the HTML of a page with all its parts. Its references are relative to the root of the project afterwards. */
function readPage({ name, path }, pages, target) {
  const links = pages
    .filter(({ label }) => label)
    .map((page) => {
      const current = page.path === path ? ' aria-current="page"' : "";
      return `<a href="./${page.path.slice(1)}"${current}>${page.label}</a>`;
    });
  return readPart(join(SOURCE, name, "index.html"), target).replace(
    "<!-- navigation -->",
    links.join("\n        "),
  );
}

/** Reads a file with the parts that it includes. Those in `dist/src/web` are parts that this build has written. */
function readPart(file, target) {
  const folder = dirname(file);
  return readFileSync(file, "utf8")
    .replace(REFERENCE, (_, attribute, path) => `${attribute}="./${join(folder, path)}"`)
    .replace(INCLUDE, (_, path) => {
      const part = join(folder, path);
      return readPart(part.startsWith("dist/") ? join(target, relative("dist/src/web", part)) : part, target);
    });
}

/** Builds what a page refers to. Returns the page with the names of the assets. */
async function buildAssets(html, assets) {
  const sources = [...new Set([...html.matchAll(REFERENCE)].map((match) => match[2]))];
  const { names, chunks } = await bundle(sources.filter(isBundled), assets);
  for (const file of sources) if (!isBundled(file)) names.set(file, copy(file, assets));
  const preloads = chunks.map((name) => `<link rel="modulepreload" href="assets/${name}" />`);
  return html
    .replace(REFERENCE, (_, attribute, file) => `${attribute}="assets/${names.get(file)}"`)
    .replace('<script type="module"', (script) => [...preloads, script].join("\n    "));
}

function isBundled(file) {
  return BUNDLED.has(extname(file));
}

/**
 * Bundles the script and the styles of one page. Pages do not share scripts: a first visit is faster with one large
 * file than with ten small ones. Returns the names by source, and the chunks that the script needs at once because a
 * part of the page that is loaded later needs them too.
 */
async function bundle(files, assets) {
  const { metafile } = await build({
    entryPoints: files.map((file) => ({ in: file, out: outputName(file) })),
    outdir: assets,
    entryNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
    assetNames: "[name]-[hash]",
    bundle: true,
    splitting: true,
    minify: true,
    format: "esm",
    target: ["es2022"],
    loader: { ".webp": "file", ".svg": "file" },
    metafile: true,
    logLevel: "warning",
  });
  const outputs = Object.entries(metafile.outputs)
    .map(([path, { entryPoint }]) => ({ path, source: `./${entryPoint}` }))
    .filter(({ source }) => files.includes(source));
  const chunks = new Set(outputs.flatMap(({ path }) => staticImports(metafile, path)));
  return {
    names: new Map(outputs.map(({ path, source }) => [source, basename(path)])),
    chunks: [...chunks].map((path) => basename(path)),
  };
}

/** The files that an output needs before it can run. */
function staticImports(metafile, output) {
  const imported = metafile.outputs[output].imports
    .filter(({ kind }) => kind === "import-statement")
    .map(({ path }) => path);
  return imported.flatMap((path) => [path, ...staticImports(metafile, path)]);
}

/** `site/theme.css` becomes `site-theme`, as all assets lie in one folder. */
function outputName(file) {
  return relative(SOURCE, file).slice(0, -extname(file).length).replaceAll("/", "-");
}

/** Copies a file to the assets. Returns its name there. */
function copy(file, assets) {
  const bytes = readFileSync(file);
  const hash = createHash("sha256").update(bytes).digest("hex").slice(0, 8);
  const name = `${outputName(file)}-${hash}${extname(file)}`;
  writeFileSync(join(assets, name), bytes);
  return name;
}

/** Writes FILE.br and FILE.gz beside every text file of a folder. */
function compressFiles(folder) {
  for (const name of readdirSync(folder)) {
    if (!TEXT.has(extname(name))) continue;
    const bytes = readFileSync(join(folder, name));
    const params = {
      [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    };
    writeFileSync(join(folder, `${name}.br`), brotliCompressSync(bytes, { params }));
    writeFileSync(join(folder, `${name}.gz`), gzipSync(bytes, { level: constants.Z_BEST_COMPRESSION }));
  }
}
