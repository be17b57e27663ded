/** An input that cannot be sent. The message tells the user what to change. */
export class InputError extends Error {
  override readonly name = "InputError";
}
