// Shows the OpenAPI document in Swagger UI, whose dark theme is enabled by a class.
const dark = matchMedia("(prefers-color-scheme: dark)");
const applyTheme = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", applyTheme);
applyTheme();

SwaggerUIBundle({
  url: "openapi.json",
  dom_id: "#reference",
  deepLinking: true,
  displayRequestDuration: true,
  // The validator would send the document's URL to a third party.
  validatorUrl: null,
});
