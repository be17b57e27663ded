/** Variables that Kubernetes and Docker add for each service whose name starts with "visage" (service links). */
const SERVICE_LINK = /_(SERVICE_(HOST|PORT(_\w+)?)|PORT_\d+_(TCP|UDP|SCTP)(_\w+)?)$/;
const SERVICE_LINK_ADDRESS = /_PORT=(tcp|udp|sctp):/;

/**
 * Finds variables that are set and start with VISAGE_ but are none of the known ones. Returns a fault for each, which
 * starts with its name and never has its value, because it may be a secret.
 */
export function findUnknownVariables(
  env: Readonly<Record<string, string | undefined>>,
  known: readonly string[],
): string[] {
  return Object.entries(env)
    .filter(([name, value]) => name.startsWith("VISAGE_") && value && !known.includes(name))
    .filter(([name, value]) => !SERVICE_LINK.test(name) && !SERVICE_LINK_ADDRESS.test(`${name}=${value}`))
    .map(([name]) => {
      const nearest = findNearest(name, known);
      return `${name} is not a setting${nearest === undefined ? "" : `; did you mean ${nearest}?`}`;
    });
}

/** Finds the known name that differs least. Undefined if each differs in more than half of its characters. */
function findNearest(name: string, known: readonly string[]): string | undefined {
  const maxDistance = Math.floor((name.length - "VISAGE_".length) / 2);
  const [nearest] = known
    .map((candidate) => ({ candidate, distance: editDistance(name, candidate) }))
    .filter(({ distance }) => distance <= maxDistance)
    .toSorted((one, other) => one.distance - other.distance);
  return nearest?.candidate;
}

/** Number of characters to insert, delete or replace to get from one text to the other (Levenshtein distance). */
function editDistance(from: string, to: string): number {
  let distances = Array.from({ length: to.length + 1 }, (_, i) => i);
  for (let i = 0; i < from.length; i++) {
    const next = [i + 1];
    for (let j = 0; j < to.length; j++) {
      const replaced = distances[j]! + (from[i] === to[j] ? 0 : 1);
      next.push(Math.min(replaced, distances[j + 1]! + 1, next[j]! + 1));
    }
    distances = next;
  }
  return distances[to.length]!;
}
