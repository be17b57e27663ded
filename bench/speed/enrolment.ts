import { availableParallelism } from "node:os";
import { mapWithProgress } from "../../tools/support/progress.ts";
import { type ServiceProcess, USER } from "../../tools/support/service-process.ts";
import type { Photos } from "../load/photos.ts";
import { measureSpeed } from "../load/run-load.ts";

const TURN_SECONDS = 2;
const OPERATIONS = ["enrol_face", "get_face_vec"] as const;

/** Photos per second of both operations in one round. */
export type EnrolmentRound = Readonly<Record<(typeof OPERATIONS)[number], number>>;

/** Measures EnrolFace and get_face_vec on the same photo. They take turns. The gallery of enrolments must exist. */
export async function measureEnrolment(
  { port }: ServiceProcess,
  photos: Photos,
  count: number,
): Promise<EnrolmentRound[]> {
  const inFlight = 4 * availableParallelism();
  const images = [photos.oneFace("640x480")];
  const measure = async (operation: (typeof OPERATIONS)[number]) => {
    const mix = [{ protocol: "grpc" as const, operation, images }];
    return (await measureSpeed({ port, userId: USER, mix }, { inFlight, seconds: TURN_SECONDS })).perSecond;
  };
  const rounds = Array.from({ length: count }, (_, i) => i);
  return mapWithProgress("enrolment", rounds, async (round) => {
    const speeds: Record<string, number> = {};
    // The first of a round may find the machine faster or slower, so they alternate.
    for (const operation of round % 2 ? OPERATIONS : OPERATIONS.toReversed())
      speeds[operation] = await measure(operation);
    return speeds as EnrolmentRound;
  });
}
