/** Takes `count` items at equal distances, or all if there are fewer. */
export function everyNth<T>(items: readonly T[], count: number): T[] {
  const step = Math.max(1, items.length / count);
  return Array.from({ length: Math.min(count, items.length) }, (_, i) => items[Math.floor(i * step)]!);
}
