// Shows the OpenAPI document in Swagger UI, whose dark theme is enabled by a class.
const dark = matchMedia("(prefers-color-scheme: dark)");
const applyTheme = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", applyTheme);
applyTheme();

// Swagger UI keeps the body when another media type is selected, so a form with files would be sent as JSON.
const resetBodyWithMediaType = {
  statePlugins: {
    oas3: {
      wrapActions: {
        setRequestContentType: (original, system) => (selection) => {
          system.oas3Actions.setRequestBodyValue({ value: undefined, pathMethod: selection.pathMethod });
          return original(selection);
        },
      },
    },
  },
};

// Swagger UI writes the example of a stream over several lines, and a request of a stream is one line.
const joinLines = (request) => {
  if (request.headers?.["Content-Type"] === "application/x-ndjson") {
    try {
      request.body = JSON.stringify(JSON.parse(request.body));
    } catch {
      // The user wrote lines.
    }
  }
  return request;
};

SwaggerUIBundle({
  url: "openapi.json",
  dom_id: "#reference",
  deepLinking: true,
  displayRequestDuration: true,
  plugins: [resetBodyWithMediaType],
  requestInterceptor: joinLines,
  // The validator would send the document's URL to a third party.
  validatorUrl: null,
});
