import { z } from 'zod';
import type { CategoryAnswer } from '../schemas/analytics.ts';
import type { ClickHouse } from '../stores/clickhouse/client.ts';
import {
  decimalNumber,
  divideHalfEven,
  parsePrice,
  parseUsd,
  PRICE_SCALE,
  USD_SCALE,
  numberOfText,
} from '../core/decimal.ts';
import { canonicalCategory } from '../platforms/categories.ts';
import { type Platform, PLATFORMS } from '../core/model.ts';
import type { OfWindows } from './windows.ts';

const amount = z.string().nullable();
const CategoryRow = z.object({
  slug: z.string(),
  name: z.string(),
  as_of: z.string(),
  active: z.coerce.number(),
  total: z.coerce.number(),
  volume_24h: amount,
  volume_7d: amount,
  volume_30d: amount,
  volume_total: amount,
  liquidity: z.string(),
  volume_24h_usd: amount,
  volume_7d_usd: amount,
  volume_total_usd: amount,
  liquidity_usd: amount,
  usd_markets: z.array(z.coerce.number()).length(4),
  spreads: amount,
  two_sided: z.coerce.number(),
  platforms: z.array(z.enum(PLATFORMS)),
});
type CategoryRow = z.infer<typeof CategoryRow>;

/** Every category with a stored market, by volume of the last day; `asOf` is null while nothing is stored. */
export async function categories(
  { clickhouse, ofWindows }: { clickhouse: Pick<ClickHouse, 'query'>; ofWindows: OfWindows },
  platforms: readonly Platform[],
): Promise<{
  categories: z.infer<typeof CategoryAnswer>[];
  totalVolume24h: number | null;
  asOf: string | null;
}> {
  const asked = platforms.length === PLATFORMS.length ? undefined : platforms;
  const rows = await ofWindows(`categories:${platforms.join(',')}`, () =>
    clickhouse.query('categories', CategoryRow, { platforms: asked }),
  );
  const volumes = rows.flatMap((row) => (row.volume_24h === null ? [] : [parseUsd(row.volume_24h)]));
  return {
    categories: rows.toSorted(byVolume).map(toCategory),
    totalVolume24h:
      volumes.length === 0
        ? null
        : decimalNumber(
            volumes.reduce((sum, volume) => sum + volume, 0n),
            USD_SCALE,
          ),
    asOf: rows[0]?.as_of ?? null,
  };
}

function byVolume(a: CategoryRow, b: CategoryRow): number {
  const [left, right] = [a, b].map((row) => (row.volume_24h === null ? -1n : parseUsd(row.volume_24h)));
  if (left !== right) return (left ?? 0n) < (right ?? 0n) ? 1 : -1;
  return a.slug < b.slug ? -1 : 1;
}

/** Mean, to 6 decimals, of a sum in units of 10^-scale. */
const mean = (sum: bigint, count: number, scale: number): number =>
  decimalNumber(divideHalfEven(sum, BigInt(count) * 10n ** BigInt(scale - USD_SCALE)), USD_SCALE);

function toCategory(row: CategoryRow): z.infer<typeof CategoryAnswer> {
  const [day = 0, week = 0, total = 0, liquidity = 0] = row.usd_markets;
  return {
    name: canonicalCategory([row.slug])?.name ?? (row.name || 'Other'),
    slug: row.slug,
    active_markets: row.active,
    total_markets: row.total,
    volume_24h: numberOfText(row.volume_24h),
    volume_7d: numberOfText(row.volume_7d),
    volume_30d: numberOfText(row.volume_30d),
    total_volume: numberOfText(row.volume_total),
    volume_24h_usd: numberOfText(row.volume_24h_usd),
    volume_7d_usd: numberOfText(row.volume_7d_usd),
    volume_total_usd: numberOfText(row.volume_total_usd),
    liquidity_usd: numberOfText(row.liquidity_usd),
    usd_markets: { volume_24h: day, volume_7d: week, volume_total: total, liquidity },
    total_liquidity: Number(row.liquidity),
    avg_liquidity_per_market: row.active === 0 ? 0 : mean(parseUsd(row.liquidity), row.active, USD_SCALE),
    avg_spread:
      row.two_sided === 0 || row.spreads === null ? null : mean(parsePrice(row.spreads), row.two_sided, PRICE_SCALE),
    platforms: PLATFORMS.filter((platform) => row.platforms.includes(platform)),
  };
}
