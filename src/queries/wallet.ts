import { z } from 'zod';
import { decimalNumber, parseUsd, USD_SCALE } from '../core/decimal.ts';
import { type Platform, PLATFORMS, unifiedId } from '../core/model.ts';
import type { WalletAnswer } from '../schemas/wallets.ts';
import type { ClickHouse } from '../stores/clickhouse/client.ts';
import { keptFrom } from '../stores/clickhouse/retention.ts';
import { marketNames, type NameStores } from './market-names.ts';

/** A row of sql/queries/wallet.sql: one platform. */
const WalletRow = z.object({
  platform: z.enum(PLATFORMS),
  trades: z.coerce.number(),
  volume_usd: z.string(),
  markets: z.coerce.number(),
  first_ms: z.coerce.number(),
  last_ms: z.coerce.number(),
  names: z.array(z.string()),
  complete_from_ms: z.coerce.number().nullable(),
});

const WalletMarketRow = z.object({
  platform: z.enum(PLATFORMS),
  market_key: z.string(),
  trades: z.coerce.number(),
  volume_usd: z.string(),
  last_ms: z.coerce.number(),
});

/** The markets in which these wallets took stored trades, the most traded in USD first. */
export const walletMarkets = (
  clickhouse: Pick<ClickHouse, 'query'>,
  addresses: readonly string[],
  platforms: readonly Platform[],
  limit: number,
) => clickhouse.query('wallet_markets', WalletMarketRow, { addresses, platforms, limit });

/** The markets in which a wallet traded most in USD, with their names. */
export async function topMarkets(
  stores: NameStores,
  address: string,
  platforms: readonly Platform[],
  limit: number,
): Promise<z.input<typeof WalletAnswer>['top_markets']> {
  const rows = await walletMarkets(stores.clickhouse, [address], platforms, limit);
  const names = await marketNames(stores, rows);
  return rows.map(({ platform, market_key: key, trades, volume_usd: volume, last_ms: lastMs }) => {
    const { market_id = '', title = '', outcome_name = null } = names.get(key) ?? {};
    return {
      id: unifiedId(platform, market_id),
      platform,
      market_id,
      title,
      outcome_name,
      trades,
      volume_usd: decimalNumber(parseUsd(volume), USD_SCALE),
      last_trade_at: new Date(lastMs).toISOString(),
    };
  });
}

const times = (ms: readonly number[], pick: (...given: number[]) => number): string | null =>
  ms.length === 0 ? null : new Date(pick(...ms)).toISOString();

/** What a wallet has traded on these platforms, by the stored trades. Times are known to the millisecond. */
export async function walletFigures(
  clickhouse: Pick<ClickHouse, 'query' | 'sql'>,
  address: string,
  platforms: readonly Platform[],
): Promise<z.input<typeof WalletAnswer>['wallet']> {
  const [rows, kept] = await Promise.all([
    clickhouse.query('wallet', WalletRow, { address, platforms }),
    keptFrom(clickhouse, 'trades'),
  ]);
  const traded = rows.filter(({ trades }) => trades > 0);
  const complete = rows.flatMap((row) => row.complete_from_ms ?? []);
  return {
    address,
    names: [...new Set(rows.flatMap(({ names }) => names))],
    trades: traded.reduce((sum, row) => sum + row.trades, 0),
    volume_usd: decimalNumber(
      traded.reduce((sum, row) => sum + parseUsd(row.volume_usd), 0n),
      USD_SCALE,
    ),
    markets: traded.reduce((sum, row) => sum + row.markets, 0),
    first_trade_at: times(
      traded.map((row) => row.first_ms),
      Math.min,
    ),
    last_trade_at: times(
      traded.map((row) => row.last_ms),
      Math.max,
    ),
    complete_from: complete.length < platforms.length ? null : times([...complete, kept.getTime()], Math.max),
  };
}
