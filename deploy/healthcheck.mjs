// The image's health check, which has no shell or curl to do it with: succeeds when the service is ready.
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";

const { VISAGE_PORT: port = "8080", VISAGE_TLS_CERT: certificate } = process.env;
const request = certificate ? httpsRequest : httpRequest;
// The certificate is made for another name than this one, and whether it is trusted is for clients to say.
request({ host: "127.0.0.1", port, path: "/readyz", rejectUnauthorized: false }, ({ statusCode }) => {
  process.exit(statusCode === 200 ? 0 : 1);
})
  .on("error", () => process.exit(1))
  .end();
