import { GALLERIES, type Permission } from "../permissions.ts";

/** A page of the site: the folder `src/web/NAME` with its `index.html`, and a script and styles that this refers to. */
export interface Page {
  readonly name: string;
  /** `/NAME`, except for the first page. `/NAME` and `/NAME/` redirect to another path. */
  readonly path: string;
  /** Its name in the navigation; a page without one is not listed there. */
  readonly label?: string;
  /** Whether it is served only if the service has an admin key. */
  readonly isForOperator?: boolean;
  /** The page is not served if all of these are switched off for the whole service. */
  readonly permissions?: readonly Permission[];
}

/** A file that is served as it is. */
export interface PageFile {
  readonly path: string;
  /** Path of the file, relative to the folder of the compiled `src/web`. */
  readonly file: string;
}

/** The pages, in the order of the navigation. */
export const PAGES: readonly Page[] = [
  { name: "playground", path: "/", label: "Playground" },
  { name: "galleries", path: "/galleries", label: "Galleries", permissions: GALLERIES },
  { name: "docs", path: "/docs", label: "API reference" },
  { name: "account", path: "/account", label: "Account", permissions: ["account"] },
  { name: "admin", path: "/admin", isForOperator: true },
];

export const OPENAPI_PATH = "/openapi.json";

/** Files that other programs fetch, so their paths never change. */
export const FILES: readonly PageFile[] = [
  { path: "/favicon.ico", file: "site/favicon.ico" },
  { path: OPENAPI_PATH, file: "../../../gen/openapi.json" },
  { path: "/descriptors.binpb", file: "../../../gen/descriptors.binpb" },
  { path: "/proto/face.proto", file: "../../../proto/face/v1/face.proto" },
  { path: "/proto/face_analysis.proto", file: "../../../proto/visage/v1/face_analysis.proto" },
  { path: "/docs/privacy.md", file: "../../../docs/privacy.md" },
];

/** What the pages need to know about the service: its version, its limits for photos, and what is switched off. */
export const SERVICE_INFO_PATH = "/service-info.json";

/** Where the bundled scripts, styles and images are served, each with a hash of its content in its name. */
export const ASSETS_PATH = "/assets/";
