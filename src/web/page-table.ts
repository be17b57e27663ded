/** A static file that the service serves. */
export interface PageEntry {
  readonly path: string;
  /** Path of the file, relative to the folder of the compiled `src/web`. */
  readonly file: string;
  readonly type: "html" | "css" | "javascript" | "json" | "svg" | "proto" | "descriptors";
}

/** The files of the playground other than its page. */
const PLAYGROUND: readonly string[] = [
  "icon.svg",
  "form.css",
  "photo.css",
  "result.css",
  "theme.css",
  "advice.js",
  "camera.js",
  "commands.js",
  "controls.js",
  "copy.js",
  "elements.js",
  "face-card.js",
  "faces.js",
  "failure-view.js",
  "heat-map.js",
  "json-view.js",
  "main.js",
  "operations.js",
  "overlay.js",
  "photo-loader.js",
  "photos.js",
  "raw-view.js",
  "request.js",
  "response-summary.js",
  "responses.js",
  "result-view.js",
  "run.js",
  "scale.js",
  "send.js",
  "slot-view.js",
  "store.js",
  "timings.js",
  "user-id.js",
  "words.js",
];

/** Every static file that the service serves. */
export const PAGES: readonly PageEntry[] = [
  { path: "/proto/face.proto", file: "../../../proto/face/v1/face.proto", type: "proto" },
  {
    path: "/proto/face_analysis.proto",
    file: "../../../proto/visage/v1/face_analysis.proto",
    type: "proto",
  },
  { path: "/descriptors.binpb", file: "../../../gen/descriptors.binpb", type: "descriptors" },
  { path: "/", file: "playground/index.html", type: "html" },
  ...PLAYGROUND.map(playgroundFile),
  { path: "/openapi.json", file: "../../../gen/openapi.json", type: "json" },
  { path: "/docs", file: "docs/index.html", type: "html" },
  { path: "/docs/docs.css", file: "docs/docs.css", type: "css" },
  { path: "/docs/docs.js", file: "docs/docs.js", type: "javascript" },
  { path: "/docs/swagger-ui.css", file: "docs/swagger-ui.css", type: "css" },
  { path: "/docs/swagger-ui-bundle.js", file: "docs/swagger-ui-bundle.js", type: "javascript" },
];

function playgroundFile(name: string): PageEntry {
  const type = name.endsWith(".js") ? "javascript" : name.endsWith(".css") ? "css" : "svg";
  return { path: `/playground/${name}`, file: `playground/${name}`, type };
}
