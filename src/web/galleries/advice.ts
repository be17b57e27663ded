/** What the user can do about an error, by its code. Errors without an entry explain themselves. */
export const ADVICE: Readonly<Record<string, string>> = {
  "2004": "Save the photo as JPEG or PNG.",
  "2005": "Make the photo smaller. 1024 pixels are enough.",
  "2010": "Make the photo smaller. 1024 pixels are enough.",
  "2013":
    "Create a new gallery and enrol the photos again: templates of different models cannot be compared.",
  "3001": "Use a photo in which the face is larger, brighter or turned to the camera.",
  "4002": "Check your user id for typing errors, or ask the operator of this service.",
  "5006": "Try again shortly.",
  "6001": "It may have been deleted. Reload the page.",
  "6002": "The person may have been deleted. Reload the page.",
  "6003": "The face may have been deleted. Reload the page.",
  "6004": "Choose another id.",
  "6005": "Delete a gallery, or ask the operator for a larger plan.",
  "6006": "Delete people, or ask the operator for a larger plan.",
  "6007": "Delete a face of this person first.",
  "6008": "Ask the operator for more memory for galleries.",
  "6009": "Wait a moment, then try again.",
};

/** What happened, in plain words, by the code of an error whose message is technical. */
export const TITLES: Readonly<Record<string, string>> = {
  "4001": "Enter your user id.",
  "4002": "This user id is not accepted.",
};
