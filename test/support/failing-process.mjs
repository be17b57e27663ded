// Loaded into a process by `--import`: fails as code with a bug would, when it is signalled.
process.on("SIGUSR2", () => {
  setImmediate(() => {
    throw new Error("made to throw");
  });
});
process.on("SIGWINCH", () => {
  // biome-ignore lint/nursery/noFloatingPromises: that nobody owns it is the point.
  Promise.reject(new Error("made to reject"));
});
