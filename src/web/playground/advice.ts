import type { FailureKind } from "../site/request-error.ts";
import { plural } from "../site/words.ts";

/** What the user can do about an error. */
export interface Advice {
  /** What happened, in plain words; missing if the message of the service is plain. */
  readonly title?: string;
  readonly text: string;
  /** Whether sending the same request again can succeed. */
  readonly retry: boolean;
}

const OUTDATED: Advice = {
  title: "This page is out of date.",
  text: "The page and the service have different versions. Reload the page.",
  retry: false,
};

/** The advice by error code. */
export const ADVICE: Readonly<Record<string, Advice>> = {
  "2001": {
    title: "The service does not accept this request.",
    text: "Check that all photos are added and that the options suit the operation.",
    retry: false,
  },
  "2002": {
    title: "The selected box is not valid.",
    text: "Select the face again, or send the photo without a box.",
    retry: false,
  },
  "2003": { text: "Save the photo again and retry.", retry: false },
  "2004": { text: "Save the photo as JPEG or PNG.", retry: false },
  "2005": {
    title: "The photo is too large.",
    text: "Make the photo smaller. 1024 pixels are enough.",
    retry: false,
  },
  "2006": {
    title: "The photo could not be fetched from its URL.",
    text: "Check the URL, or upload the photo instead. The service fetches only from public addresses on ports 80 and 443; its operator can allow others with VISAGE_FETCH_ALLOW.",
    retry: false,
  },
  "2007": {
    title: "The server of the URL does not give out the photo.",
    text: "Check the URL, or upload the photo instead.",
    retry: false,
  },
  "2008": {
    title: "The photo did not arrive from its URL in time.",
    text: "Try again, or upload the photo instead.",
    retry: true,
  },
  "2009": {
    title: "The server of the URL failed.",
    text: "Try again, or upload the photo instead.",
    retry: true,
  },
  "2010": {
    title: "The photos are too large.",
    text: "Make the photos smaller. 1024 pixels are enough.",
    retry: false,
  },
  "2011": {
    title: "The browser sends too many cookies.",
    text: "Clear this site's cookies and try again.",
    retry: false,
  },
  "2012": OUTDATED,
  "3001": {
    text: "Use a photo in which the face is larger, brighter or turned to the camera.",
    retry: false,
  },
  "3002": {
    title: "No face was found in the selected box.",
    text: "Select one of the marked faces, or send the photo without a box.",
    retry: false,
  },
  "3101": {
    text: "The face must be at least 60 by 60 pixels. Turn off the quality check to see the measured size.",
    retry: false,
  },
  "3102": {
    text: "The face brightness must be at least 70. Turn off the quality check to see the measured value.",
    retry: false,
  },
  "3103": {
    text: "The face must be turned by at most 50 degrees. Turn off the quality check to see the measured angle.",
    retry: false,
  },
  "3104": { text: "Use a sharp photo of an uncovered face that looks at the camera.", retry: false },
  "4001": { title: "Enter a user id.", text: "The field is below the photos.", retry: false },
  "4002": {
    title: "This user id is not accepted.",
    text: "Check your user id for typing errors, or ask the operator of this service.",
    retry: false,
  },
  "4003": {
    title: "You have no active subscription.",
    text: "Ask the operator of this service to renew it.",
    retry: false,
  },
  "4004": { text: "Wait for the next month, or ask the operator for a larger plan.", retry: false },
  "4005": { text: "Wait a moment before the next request.", retry: true },
  "4006": {
    title: "You have too many requests in progress.",
    text: "Wait until your other requests have finished.",
    retry: true,
  },
  "4040": OUTDATED,
  "4050": OUTDATED,
  "5000": {
    title: "The service failed.",
    text: "Try once more. If the error persists, send the request id to the operator of this service.",
    retry: true,
  },
  "5001": { title: "The service is busy.", text: "Try again shortly.", retry: true },
  "5002": { title: "The service is restarting.", text: "Try again shortly.", retry: true },
  "5003": {
    title: "The service took too long.",
    text: "Try again. A smaller photo is processed faster.",
    retry: true,
  },
  "5004": {
    title: "The upload was too slow.",
    text: "Try a smaller photo, or a faster connection.",
    retry: true,
  },
  "5005": { text: "Try again shortly.", retry: true },
};

/** The advice when the service sent no response, by the kind of failure. */
const WITHOUT_RESPONSE: Readonly<Record<FailureKind, Advice>> = {
  unreachable: { text: "Check that the service is running and that you are connected to it.", retry: true },
  timeout: { text: "Check your connection. A smaller photo is sent and processed faster.", retry: true },
  cancelled: { text: "Nothing was changed.", retry: true },
  proxy: {
    text: "The answer does not come from the service itself. It may be restarting. Try again shortly.",
    retry: true,
  },
  service: { text: "Try again. If the error persists, ask the operator of this service.", retry: true },
};

const TOO_LARGE_FOR_PROXY: Advice = {
  text: "The proxy limits the size of uploads. Make the photos smaller, or ask the operator to raise the limit.",
  retry: false,
};

/** What the advice for a failed request depends on. */
export interface FailureCause {
  readonly code?: string | undefined;
  readonly kind?: FailureKind | undefined;
  readonly httpStatus?: number | undefined;
}

/** The advice for a failed request. */
export function adviceFor({ code, kind = "service", httpStatus }: FailureCause): Advice {
  const known = code === undefined ? undefined : ADVICE[code];
  if (known) return known;
  return kind === "proxy" && httpStatus === 413 ? TOO_LARGE_FOR_PROXY : WITHOUT_RESPONSE[kind];
}

/** What happened, in plain words: the title of a failed request. */
export function titleOf(failure: FailureCause & { readonly message: string }): string {
  return adviceFor(failure).title ?? failure.message;
}

/** Writes a waiting time in the largest unit of which it has at least two. */
export function waitText(seconds: number): string {
  const units = [
    [86_400, "day"],
    [3_600, "hour"],
    [60, "minute"],
  ] as const;
  for (const [length, name] of units)
    if (seconds >= 2 * length) return plural(Math.round(seconds / length), name);
  return plural(seconds, "second");
}
