/**
 * Connects a program that runs as a ProgramProcess to its parent. The program ends when the parent disconnects or dies.
 * Returns a function that sends messages.
 */
export function connectToParent<Received, Sent>(
  onMessage: (message: Received) => void,
): (message: Sent) => void {
  // A terminal sends Ctrl-C to the whole process group, but only the parent decides when to stop.
  process.on("SIGINT", () => {});
  process.on("SIGTERM", () => {});
  process.on("disconnect", () => process.exit());
  process.on("message", onMessage);
  return (message) => {
    // Sending fails only if the parent has closed the channel, and then `disconnect` follows.
    process.send?.(message, undefined, undefined, () => {});
  };
}
