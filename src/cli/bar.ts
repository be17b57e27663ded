const EIGHTHS = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/** A bar whose length is a share, 0 to 1, of a width in characters. What is more than nothing can be seen. */
export function barOf(share: number, width: number): string {
  const eighths = share > 0 ? Math.max(1, Math.round(8 * width * share)) : 0;
  return "█".repeat(Math.floor(eighths / 8)) + EIGHTHS[eighths % 8];
}
