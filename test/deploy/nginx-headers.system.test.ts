import { create } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { GetFaceVecRequestSchema } from "../../gen/ts/face/v1/face_pb.ts";
import type { RunningService } from "../../src/main.ts";
import { type Nginx, startNginx } from "../support/nginx.ts";
import { createProtocolClients } from "../support/protocol-clients.ts";
import { startTestService, USER } from "../support/service.ts";
import { findTools } from "../support/tools.ts";

const { wanted, paths } = findTools("nginx");

let service: RunningService;
beforeAll(async () => {
  if (wanted) service = await startTestService();
});
afterAll(() => service?.close());

const WITHOUT_UNDERSCORES = (config: string) => config.replace("underscores_in_headers on;", "");
const OPERATION_REACHED = { code: "2001" };

describe.skipIf(!wanted).each([
  ["with its default for headers", WITHOUT_UNDERSCORES, { code: "4001" }],
  ["with the example configuration", (config: string) => config, OPERATION_REACHED],
])("nginx %s", (_, change, outcomeOfUserId) => {
  let nginx: Nginx;
  beforeAll(async () => {
    nginx = await startNginx(paths.nginx, [service.port, service.port], change);
  });
  afterAll(() => nginx?.stop());

  test.each([
    ["x-api-key", { "x-api-key": USER }, OPERATION_REACHED],
    ["Authorization", { authorization: `Bearer ${USER}` }, OPERATION_REACHED],
    ["user_id", { user_id: USER }, outcomeOfUserId],
  ])("passes %s as documented", async (_header, headers, outcome) => {
    const request = create(GetFaceVecRequestSchema, {});
    const calls = [
      ["gRPC (grpc-js)", nginx.grpcPort],
      ["REST JSON", nginx.httpPort],
      ["REST multipart", nginx.httpPort],
    ] as const;
    for (const [protocol, port] of calls) {
      const client = createProtocolClients(port, headers).find(({ name }) => name === protocol)!;
      expect(await client.call("getFaceVec", request), protocol).toMatchObject(outcome);
    }
  });
});
