import type { Random } from "../../support/random.ts";
import { mutate } from "../mutate.ts";
import { envelope, type HeaderList, PREFACE, settings, settingsAck } from "./http2-frames.ts";
import { HEALTH_CHECK, MULTIPART_TYPE, OPERATIONS, PATHS } from "./requests.ts";
import type { Fixtures } from "./script.ts";

/** The first bytes of a well-behaved client: preface, SETTINGS and SETTINGS acknowledgement. */
export const OPENING = Buffer.concat([PREFACE, settings(), settingsAck()]);

export function requestHeaders(method: string, path: string): HeaderList {
  return [
    [":method", method],
    [":scheme", "http"],
    [":path", path],
    [":authority", "a"],
  ];
}

export function grpcHeaders(path: string): HeaderList {
  return [...requestHeaders("POST", path), ["content-type", "application/grpc"], ["te", "trailers"]];
}

export function rpcHeaders(random: Random, fixtures: Fixtures): HeaderList {
  const path = random.pick([random.pick(OPERATIONS).rpcPath, random.pick(OPERATIONS).rpcPath, HEALTH_CHECK]);
  return [...grpcHeaders(path), ...someUser(random, fixtures)];
}

export function restHeaders(random: Random, fixtures: Fixtures): HeaderList {
  return [
    ...requestHeaders("POST", random.pick(OPERATIONS).path),
    ["content-type", MULTIPART_TYPE],
    ...someUser(random, fixtures),
  ];
}

export function probeHeaders(random: Random): HeaderList {
  return requestHeaders("GET", random.pick(PATHS));
}

/** A gRPC body. It is valid about half of the time; otherwise its envelope or message is malformed. */
export function rpcBody(random: Random, { photo }: Fixtures): Buffer {
  const message = random.pick(OPERATIONS).message(photo);
  const valid = envelope(message);
  return random.pick<() => Buffer>([
    () => valid,
    () => valid,
    () => valid,
    () => valid,
    () => valid.subarray(0, random.below(valid.length)),
    () =>
      envelope(
        message,
        0,
        random.pick([0, 1, message.length - 1, message.length + 1, 0x7fffffff, 0xffffffff]),
      ),
    () => envelope(message, random.below(256)),
    () => Buffer.concat([valid, valid]),
    () => Buffer.concat([valid, Buffer.from([0])]),
    () =>
      envelope(
        mutate(message, random, {
          dictionary: [Buffer.from([0xff, 0xff, 0xff, 0xff, 0x0f])],
          corpus: [message],
        }),
      ),
  ])();
}

/** The header of a known user (most often), of an unknown user, or none. */
export function someUser(random: Random, { user }: Fixtures): HeaderList {
  return random.pick<HeaderList>([
    [["user_id", user]],
    [["user_id", user]],
    [["user_id", "unknown-user"]],
    [],
  ]);
}
