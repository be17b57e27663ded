import { actionRow, make, makeButton } from "../site/elements.ts";
import { drawFacts } from "../site/facts.ts";
import { adviceFor, titleOf, waitText } from "./advice.ts";
import { drawKeyButton } from "./api-key.ts";
import type { Failure } from "./send.ts";

/** What the button beside the error of a missing API key or an unknown one says, by code. */
const KEY_LABELS: Readonly<Record<string, string>> = {
  "4001": "Enter an API key",
  "4002": "Enter another API key",
};

/** Errors of a page that is older or newer than the service. */
const CODES_OF_OUTDATED_PAGE = ["2012", "4040", "4050"];

/** Draws an error: what happened, the message of the service, what to do, in which photo, and when to retry. */
export function drawFailure(failure: Failure, onRetry: () => void): HTMLElement {
  const { message, code, httpStatus, photo, requestId } = failure;
  const { title, text, retry } = adviceFor(failure);
  const facts = (
    [
      ["Photo", photo],
      ["Code", code],
      ["HTTP", httpStatus],
      ["Request id", requestId],
    ] as const
  ).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)] as const]));
  const card = make(
    "div",
    { class: "failure" },
    make("h3", {}, titleText(failure)),
    ...(title === undefined || title === message ? [] : [make("p", { class: "hint" }, message)]),
    make("p", {}, text),
    drawFacts(facts),
  );
  const keyLabel = code === undefined ? undefined : KEY_LABELS[code];
  if (retry) card.append(drawRetry(failure, onRetry));
  else if (keyLabel) card.append(actionRow(drawKeyButton(keyLabel)));
  else if (CODES_OF_OUTDATED_PAGE.includes(code ?? ""))
    card.append(actionRow(makeButton("Reload the page", () => location.reload())));
  else card.append(make("p", { class: "hint" }, "Sending the same request again will not help."));
  return card;
}

/** Describes an error in one sentence for screen readers. */
export function failureText(failure: Failure): string {
  const { photo, retryAfterSeconds } = failure;
  const where = photo === undefined ? "" : ` Photo ${photo}.`;
  const when = retryAfterSeconds === undefined ? "" : ` Try again in ${waitText(retryAfterSeconds)}.`;
  return `Error: ${titleText(failure)}${where}${when}`;
}

const QUOTA_USED_UP = "4004";

/** The title of an error. That of a used-up quota names the day on which it can be used again. */
function titleText(failure: Failure): string {
  const { code, resetSeconds } = failure;
  if (code !== QUOTA_USED_UP || resetSeconds === undefined) return titleOf(failure);
  const reset = new Date(Date.now() + 1000 * resetSeconds);
  // Quotas are counted by months in UTC.
  const day = reset.toLocaleDateString("en-GB", { day: "numeric", month: "long", timeZone: "UTC" });
  return `Monthly quota used up; resets on ${day}.`;
}

function drawRetry({ retryAfterSeconds }: Failure, onRetry: () => void): HTMLElement {
  const button = makeButton("Try again", onRetry);
  if (retryAfterSeconds === undefined) return actionRow(button);
  const wait = make("span", { class: "hint" });
  countDown(wait, retryAfterSeconds);
  return actionRow(button, wait);
}

/** Counts down in an element until the time is over or the element leaves the page. */
function countDown(element: HTMLElement, seconds: number): void {
  const end = performance.now() + 1000 * seconds;
  const show = () => {
    const left = Math.ceil((end - performance.now()) / 1000);
    element.textContent = left > 0 ? `available in ${waitText(left)}` : "available now";
    return left > 0;
  };
  show();
  const timer = setInterval(() => {
    if (!element.isConnected || !show()) clearInterval(timer);
  }, 1000);
}
