// Health check of the container image, which has no shell or curl. Exits with 0 if the service is ready.
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";

const { VISAGE_PORT: port = "8080", VISAGE_TLS_CERT: certificate } = process.env;
const request = certificate ? httpsRequest : httpRequest;
// Do not verify the certificate: it is issued for another host name, and clients verify it themselves.
request({ host: "127.0.0.1", port, path: "/readyz", rejectUnauthorized: false }, ({ statusCode }) => {
  process.exit(statusCode === 200 ? 0 : 1);
})
  .on("error", () => process.exit(1))
  .end();
