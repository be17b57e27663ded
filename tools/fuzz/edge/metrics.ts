/** The metrics of a service at one point in time. */
export class MetricsSnapshot {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** The value of a metric, summed over all series with the given labels. Throws if the metric does not exist. */
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

/** Reads the metrics from a metrics port. */
export async function readMetrics(port: number): Promise<MetricsSnapshot> {
  const response = await fetch(`http://127.0.0.1:${port}/metrics`, { signal: AbortSignal.timeout(10_000) });
  if (!response.ok) throw new Error(`The metrics port responded with status ${response.status}.`);
  return new MetricsSnapshot(await response.text());
}
