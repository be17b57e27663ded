import PAGE_ERRORS from "../../../gen/page-errors/playground.json" with { type: "json" };
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

/** The advice by error code. */
const ADVICE: Readonly<Record<string, Advice>> = PAGE_ERRORS;

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
