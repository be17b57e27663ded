/** Metrics as a service exposed them at one moment. */
export class MetricsSnapshot {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** The value of a metric, summed over all series that carry the labels. Throws if there is no such metric. */
  value(name: string, labels: Readonly<Record<string, string>> = {}): number {
    const lines = this.#text.split("\n");
    if (!lines.some((line) => line.startsWith(`# TYPE ${name} `)))
      throw new Error(`The service exposes no metric ${name}.`);
    const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
    return lines
      .filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`))
      .filter((line) => wanted.every((label) => line.includes(label)))
      .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" "))), 0);
  }
}

/** Reads the metrics of the service whose metrics port this is. */
export async function readMetrics(port: number): Promise<MetricsSnapshot> {
  const response = await fetch(`http://127.0.0.1:${port}/metrics`, { signal: AbortSignal.timeout(10_000) });
  if (!response.ok) throw new Error(`The metrics port answered ${response.status}.`);
  return new MetricsSnapshot(await response.text());
}

/** Requests between their head and the end of their answer. */
export async function requestsInFlight(port: number): Promise<number> {
  return (await readMetrics(port)).value("visage_requests_in_flight");
}
