/** What a person can do about an error. */
export interface Advice {
  readonly text: string;
  /** Whether sending the same request again can help. */
  readonly retry: boolean;
}

/** What to do, by the code of the error. */
export const ADVICE: Readonly<Record<string, Advice>> = {
  "2001": { text: "Check that every photo is there and that the options fit the operation.", retry: false },
  "2002": { text: "Choose the face again, or send the photo without a box.", retry: false },
  "2003": {
    text: "The file may not have been copied in full. Save the photo again and retry.",
    retry: false,
  },
  "2004": { text: "Save the photo as JPEG or PNG.", retry: false },
  "2005": { text: "Make the photo smaller: 1024 pixels are enough.", retry: false },
  "2006": { text: "Check the URL, or upload the photo instead.", retry: false },
  "2007": { text: "Check the URL, or upload the photo instead.", retry: false },
  "2008": { text: "Try again, or upload the photo instead.", retry: true },
  "2009": { text: "Try again, or upload the photo instead.", retry: true },
  "2010": { text: "Make the photos smaller: 1024 pixels are enough.", retry: false },
  "2011": { text: "Clear the cookies of this site and try again.", retry: false },
  "2012": { text: "The page and the service have different versions. Reload the page.", retry: false },
  "3001": { text: "Use a photo in which a face is larger, brighter or turned to the camera.", retry: false },
  "3002": { text: "Choose a face by its frame, or send the photo without a box.", retry: false },
  "3101": {
    text: "The face must have at least 60 by 60 pixels. Without the quality check its numbers are shown.",
    retry: false,
  },
  "3102": {
    text: "The face needs a light of at least 70. Without the quality check its numbers are shown.",
    retry: false,
  },
  "3103": {
    text: "The face may be turned by at most 50 degrees. Without the quality check its numbers are shown.",
    retry: false,
  },
  "4001": { text: "Give your user id at the top of the page.", retry: false },
  "4002": { text: "Check your user id for missing letters, or ask who runs this service.", retry: false },
  "4003": { text: "Ask who runs this service to renew your subscription.", retry: false },
  "4004": { text: "Wait for the next month, or ask for a larger plan.", retry: true },
  "4005": { text: "Wait a moment before the next request.", retry: true },
  "4006": { text: "Wait until your other requests are answered.", retry: true },
  "4040": { text: "The page and the service have different versions. Reload the page.", retry: false },
  "4050": { text: "The page and the service have different versions. Reload the page.", retry: false },
  "5000": { text: "Try once more. If it stays, tell who runs this service the request id.", retry: true },
  "5001": { text: "Many requests wait at the moment. Try again shortly.", retry: true },
  "5002": { text: "The service restarts. Try again shortly.", retry: true },
  "5003": { text: "A smaller photo is faster. Try again.", retry: true },
  "5004": { text: "The connection is slow. A smaller photo helps.", retry: true },
  "5005": { text: "The accounts are away for a moment. Try again shortly.", retry: true },
};

/** What to do where the service gave no answer of its own. */
export const UNREACHABLE: Advice = {
  text: "Check that the service runs and that you are connected to it.",
  retry: true,
};

/** A time to wait as people say it. */
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

function plural(count: number, name: string): string {
  return `${count} ${name}${count === 1 ? "" : "s"}`;
}
