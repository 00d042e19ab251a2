import { distance } from 'fastest-levenshtein';

/** What other services call a field of ours. */
const MEANT: ReadonlyMap<string, string> = new Map([
  ...['page', 'page_size', 'offset', 'skip', 'after', 'page_token'].map((name) => [name, 'cursor'] as const),
  ...['quantity', 'qty', 'count', 'contracts', 'shares'].map((name) => [name, 'size'] as const),
  ...['from', 'since', 'start_time', 'start_date'].map((name) => [name, 'start_ts'] as const),
  ...['until', 'end_time', 'to_date'].map((name) => [name, 'end_ts'] as const),
  ...['order_by', 'sort_by', 'order'].map((name) => [name, 'sort'] as const),
]);

/**
 * The field that a caller may mean by an unknown name. Names that other services use come first, then the field with the smallest edit
 * distance. `known` maps each spelling of a field to its name.
 */
export function nearestField(name: string, known: ReadonlyMap<string, string>): string {
  const given = name.slice(0, 40).toLowerCase();
  const meant = known.get(MEANT.get(given) ?? '');
  if (meant !== undefined) return meant;
  let best = 'none, it takes no parameters';
  let fewest = Infinity;
  for (const [spelling, field] of known) {
    // A difference in length costs one edit per character.
    if (Math.abs(spelling.length - given.length) >= fewest) continue;
    const changes = distance(given, spelling.toLowerCase());
    if (changes >= fewest) continue;
    fewest = changes;
    best = field;
  }
  return best;
}
