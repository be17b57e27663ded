/** One file that is served, and how. */
export interface PageEntry {
  readonly path: string;
  /** Where the file is, from the folder of the compiled `src/web`. */
  readonly file: string;
  readonly type: "html" | "css" | "javascript" | "json" | "svg" | "proto";
  /** What a page may do beside what all may; a Content-Security-Policy without these. */
  readonly policy?: Readonly<Record<string, string>>;
}

/** Everything that is served beside the operations, in no order. */
export const PAGES: readonly PageEntry[] = [
  { path: "/proto/face.proto", file: "../../../proto/face/v1/face.proto", type: "proto" },
];
