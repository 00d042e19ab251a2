import { quoted } from '../parts/panel.tsx';
import { LISTED } from '../parts/statements.ts';
import { ASCENDS, type Sort } from './market-list.ts';

/** The column of each order. */
const COLUMNS: Record<Sort, string> = {
  match: 'volume_24h_usd',
  volume_24h: 'volume_24h_usd',
  volume_total: 'volume_total_usd',
  liquidity: 'liquidity_usd',
  end_date: 'trading_end_at',
  created: 'created_at',
  change: 'price_change_24h',
  price: 'price',
  spread: 'spread',
};

interface Shown {
  platforms: readonly string[];
  /** As sent to the API. */
  filters: { status: string; query: string; event_id: string; min_liquidity: string } & Record<
    'ends_after' | 'ends_before',
    string
  >;
  /** The category's name, because the view has no slugs. */
  category: string;
  sort: Sort;
  isReversed: boolean;
  /** Only markets in which one of these wallets traded; null for all. */
  wallets: readonly string[] | null;
}

const timeOf = (iso: string): string => `parseDateTime64BestEffort(${quoted(iso)}, 3, 'UTC')`;

/** Words in lower case, without accents. */
const wordsOf = (query: string): string[] => [
  ...new Set(
    query
      .normalize('NFKD')
      .replaceAll(/\p{M}+/gu, '')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu),
  ),
];

const tradedBy = (wallets: readonly string[]): string =>
  wallets.length === 0
    ? 'false'
    : `market_key IN (SELECT market_key FROM v_trades WHERE trader IN (${wallets.map(quoted).join(', ')}))`;

/** SQL for the first rows of a list. The API also searches descriptions, which no view has. */
export function sqlOfList({ platforms, filters, category, sort, isReversed, wallets }: Shown, limit: number): string {
  const conditions = [
    `platform IN (${platforms.map(quoted).join(', ')})`,
    LISTED,
    ...(filters.status === '' ? [] : [`status = ${quoted(filters.status)}`]),
    ...(filters.event_id === '' ? [] : [`event_id = ${quoted(filters.event_id)}`]),
    ...(category === '' ? [] : [`category = ${quoted(category)}`]),
    ...(filters.min_liquidity === '' ? [] : [`liquidity_usd >= ${filters.min_liquidity.replaceAll(/[^\d.]/g, '')}`]),
    ...(filters.ends_after === '' ? [] : [`trading_end_at >= ${timeOf(filters.ends_after)}`]),
    ...(filters.ends_before === '' ? [] : [`trading_end_at < ${timeOf(filters.ends_before)}`]),
    ...(wallets === null ? [] : [tradedBy(wallets)]),
    ...wordsOf(filters.query).map((word) => `position(removeDiacriticsUTF8(lowerUTF8(title)), ${quoted(word)}) > 0`),
  ];
  const note =
    filters.query === ''
      ? ''
      : '-- Searches titles only; the API also searches descriptions, forgives a typo, and shows the best match first.\n';
  return `${note}SELECT id, title, price, price_change_24h, bid, ask, volume_24h_usd, volume_total_usd, liquidity_usd, trading_end_at
FROM v_markets
WHERE ${conditions.join('\n  AND ')}
ORDER BY ${COLUMNS[sort]} ${ASCENDS.has(sort) === isReversed ? 'DESC' : 'ASC'} NULLS LAST, id
LIMIT ${limit}`;
}
