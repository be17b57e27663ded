/**
 * Returns a signal that is aborted with the given signal, or with a TimeoutError after the timeout. The given signal
 * must be aborted at the end of the request, which also clears the timer.
 *
 * `AbortSignal.any` with `AbortSignal.timeout` would not do: in Node 20 the timeout may be garbage collected and then
 * never fires.
 */
export function signalWithTimeout(signal: AbortSignal, timeoutMs: number): AbortSignal {
  const controller = new AbortController();
  const timer = setTimeout(
    () => controller.abort(new DOMException("The request took too long.", "TimeoutError")),
    timeoutMs,
  );
  const follow = () => {
    clearTimeout(timer);
    controller.abort(signal.reason);
  };
  if (signal.aborted) follow();
  else signal.addEventListener("abort", follow, { once: true });
  return controller.signal;
}
