/** The words that all platforms share, written down once more: categories, outcome ids, the liquidity score. */

const CATEGORIES: readonly [name: string, ...slugs: string[]][] = [
  ['Sports', 'sports', 'sport', 'football-matches', 'props', 'esports'],
  ['Crypto', 'crypto'],
  ['Politics', 'politics', 'elections', 'us-politics'],
  ['Economy', 'economy', 'economics', 'fed'],
  ['Finance', 'finance', 'financials', 'earnings', 'stocks', 'companies'],
  ['Geopolitics', 'geopolitics', 'world'],
  ['Climate and Weather', 'climate-and-weather', 'weather'],
  ['Science and Technology', 'science-and-technology', 'tech', 'ai', 'science'],
  ['Culture', 'culture', 'entertainment', 'pop-culture'],
  ['Mentions', 'mentions'],
  ['Health', 'health'],
];

/** `Café Noir` → `cafe-noir`. */
export const slugOf = (text: string): string =>
  [...text.normalize('NFKD').toLowerCase()]
    .filter((letter) => !/\p{M}/u.test(letter))
    .map((letter) => (/[a-z0-9]/.test(letter) ? letter : ' '))
    .join('')
    .split(' ')
    .filter(Boolean)
    .join('-');

/** The category these words belong to, the vocabulary's order deciding, and which of them named it. */
export function categoryOf(words: readonly string[]): { name: string; at: number } | null {
  for (const [name, ...slugs] of CATEGORIES) {
    const at = words.findIndex((word) => slugs.includes(slugOf(word)));
    if (at >= 0) return { name, at };
  }
  return null;
}

export function outcomeIdsOf(names: readonly string[]): string[] {
  const ids: string[] = [];
  for (const [index, name] of names.entries()) {
    const id = slugOf(name) || `outcome-${index}`;
    ids.push(ids.includes(id) ? `${id}-${index}` : id);
  }
  return ids;
}

/** The name of the outcome that paid 1; null where none did. */
export const winnerOf = (names: readonly string[], payouts: readonly (number | null)[]): string | null =>
  names[payouts.indexOf(1)] ?? null;

/** 0 is nothing, 0.5 a thousand dollars, 1 a million. */
export const liquidityScoreOf = (usd: number): number => Math.min(1, Number((Math.log10(1 + usd) / 6).toFixed(4)));

/** What the service says of each field, keyed by market, where it is not what it must be. */
export interface Difference {
  id: string;
  field: string;
  served: unknown;
  expected: unknown;
}

/** Compares records field by field; nested values as a whole. */
export function differences(id: string, served: object | undefined, expected: object): Difference[] {
  if (!served) return [{ id, field: '', served: 'nothing', expected: 'a record' }];
  const found: Difference[] = [];
  const [left, right] = [served as Record<string, unknown>, expected as Record<string, unknown>];
  for (const field of new Set([...Object.keys(left), ...Object.keys(right)])) {
    if (canonical(left[field]) !== canonical(right[field])) {
      found.push({ id, field, served: left[field], expected: right[field] });
    }
  }
  return found;
}

/** JSON with sorted keys; undefined and absent are the same. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'undefined';
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined);
  return `{${entries
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, inner]) => `${key}:${canonical(inner)}`)
    .join()}}`;
}
