/**
 * A signal that follows another, and is aborted after a time of its own with a TimeoutError. The other must be
 * aborted when all is over, which also ends the wait.
 *
 * Not `AbortSignal.any` with `AbortSignal.timeout`: in Node 20 the time-out may be collected as garbage, and
 * then never comes.
 */
export function signalWithin(signal: AbortSignal, timeoutMs: number): AbortSignal {
  const own = new AbortController();
  const timer = setTimeout(
    () => own.abort(new DOMException("The request took too long.", "TimeoutError")),
    timeoutMs,
  );
  const follow = () => {
    clearTimeout(timer);
    own.abort(signal.reason);
  };
  if (signal.aborted) follow();
  else signal.addEventListener("abort", follow, { once: true });
  return own.signal;
}
