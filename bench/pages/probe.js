// Runs in the measured page before its own scripts. Clicks the main control once per frame until the page responds,
// as an impatient user does, and resolves `visageProbe.done` to what it measured.
(() => {
  const probe = globalThis.visageProbe;
  const measured = { firstPaintMs: undefined, responseMs: undefined, longTasks: [] };
  let finish;
  probe.done = new Promise((resolve) => {
    finish = () => {
      if (measured.firstPaintMs !== undefined && measured.responseMs !== undefined) resolve(measured);
    };
  });

  new PerformanceObserver((list) => {
    for (const { name, startTime } of list.getEntries())
      if (name === "first-contentful-paint") measured.firstPaintMs = startTime;
    finish();
  }).observe({ type: "paint", buffered: true });
  new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries())
      measured.longTasks.push({ startMs: startTime, durationMs: duration });
  }).observe({ type: "longtask", buffered: true });

  const isVisible = (element) => element?.checkVisibility() && element.textContent !== "";
  const onFrame = () => {
    if (isVisible(document.querySelector(probe.response))) {
      measured.responseMs = performance.now();
      finish();
      return;
    }
    const control = document.querySelector(probe.control);
    if (control?.checkVisibility()) control.click();
    requestAnimationFrame(onFrame);
  };
  requestAnimationFrame(onFrame);
})();
