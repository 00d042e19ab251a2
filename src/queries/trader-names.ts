import { z } from 'zod';
import type { Platform } from '../core/model.ts';
import { heldNames } from '../present/trades/read.ts';
import type { ClickHouse } from '../stores/clickhouse/client.ts';
import type { Postgres } from '../stores/postgres/client.ts';

const TraderRow = z.object({
  platform: z.string(),
  wallet: z.string(),
  name: z.string(),
  pseudonym: z.string(),
  profile_image: z.string(),
});
export type TraderName = Omit<z.infer<typeof TraderRow>, 'platform' | 'wallet'>;

/** A wallet of a platform: a 0x address in lower case, '' if it is not known. */
export interface Wallet {
  platform: Platform;
  wallet: string;
}
/** The name of one of the wallets that were asked for; undefined without one. */
type NameOf = (wallet: Wallet) => TraderName | undefined;

const walletKey = ({ platform, wallet }: { platform: string; wallet: string }): string => `${platform}:${wallet}`;

/** Each known wallet once. */
const known = (wallets: Iterable<Wallet>): Map<string, Wallet> =>
  new Map(Array.from(wallets, (one) => [walletKey(one), one] as const).filter(([, { wallet }]) => wallet !== ''));

/**
 * Names of wallets, as last reported by their platforms: of PostgreSQL, and of ClickHouse for wallets that PostgreSQL lacks. One
 * statement each.
 */
export async function traderNames(
  { clickhouse, postgres }: { clickhouse: Pick<ClickHouse, 'query'>; postgres: Pick<Postgres, 'db'> },
  wallets: Iterable<Wallet>,
): Promise<NameOf> {
  const asked = known(wallets);
  const held = asked.size > 0 ? await heldNames(postgres, [...asked.values()]) : [];
  const names = new Map(held.map(({ platform, wallet, ...name }) => [walletKey({ platform, wallet }), name]));
  const others = [...asked].flatMap(([key, one]) => (names.has(key) ? [] : [one]));
  const stored = await storedNames(clickhouse, others);
  return (wallet) => names.get(walletKey(wallet)) ?? stored(wallet);
}

/** Names of wallets from ClickHouse alone. */
export async function storedNames(clickhouse: Pick<ClickHouse, 'query'>, wallets: Iterable<Wallet>): Promise<NameOf> {
  const asked = [...known(wallets).values()];
  if (asked.length === 0) return () => undefined;
  const rows = await clickhouse.query('traders', TraderRow, {
    platforms: [...new Set(asked.map(({ platform }) => platform))],
    wallets: [...new Set(asked.map(({ wallet }) => wallet))],
  });
  const names = new Map(rows.map(({ platform, wallet, ...name }) => [walletKey({ platform, wallet }), name]));
  return (wallet) => names.get(walletKey(wallet));
}
