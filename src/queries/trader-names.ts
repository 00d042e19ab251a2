import { z } from 'zod';
import { Cache } from '../core/cache.ts';
import type { Platform } from '../core/model.ts';
import { partsOf } from '../core/parts.ts';
import type { Clock } from '../core/time.ts';
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
interface Wallet {
  platform: Platform;
  wallet: string;
}
/** The name of one of the wallets that were asked for; undefined without one. */
type NameOf = (wallet: Wallet) => TraderName | undefined;

const walletKey = ({ platform, wallet }: { platform: string; wallet: string }): string => `${platform}:${wallet}`;

/** Each known wallet once. */
const known = (wallets: Iterable<Wallet>): Map<string, Wallet> =>
  new Map(Array.from(wallets, (one) => [walletKey(one), one] as const).filter(([, { wallet }]) => wallet !== ''));

/** Names read from ClickHouse that are kept. */
const KEPT = 10_000;
/** How long they are kept. PostgreSQL is asked first and gets each new name, so a kept one is outdated only while copies fail. */
const KEPT_MS = 10 * 60_000;

interface Stores {
  clickhouse: Pick<ClickHouse, 'query'>;
  postgres: Pick<Postgres, 'db'>;
}

/** Names of wallets as last reported by their platforms: of PostgreSQL, and of ClickHouse for wallets that PostgreSQL lacks. */
export class TraderNames {
  readonly #stores: Stores;
  readonly #stored: Cache<string, TraderName | null>;

  constructor({ clock, ...stores }: Stores & { clock: Clock }) {
    this.#stores = stores;
    this.#stored = new Cache({ limit: KEPT, ttlMs: KEPT_MS, now: clock.elapsed });
  }

  /** One statement to PostgreSQL, and one to ClickHouse for wallets that neither it nor this process knows. */
  async of(wallets: Iterable<Wallet>): Promise<NameOf> {
    const asked = known(wallets);
    const held = asked.size > 0 ? await heldNames(this.#stores.postgres, [...asked.values()]) : [];
    const names = new Map<string, TraderName | null>(
      held.map(({ platform, wallet, ...name }) => [walletKey({ platform, wallet }), name]),
    );
    const unknown = new Map<string, Wallet>();
    for (const [key, wallet] of asked) {
      if (names.has(key)) continue;
      const name = this.#stored.get(key);
      if (name === undefined) unknown.set(key, wallet);
      else names.set(key, name);
    }
    const stored = await storedNames(this.#stores.clickhouse, unknown.values());
    for (const [key, wallet] of unknown) {
      const name = stored(wallet) ?? null;
      this.#stored.set(key, name);
      names.set(key, name);
    }
    return (wallet) => names.get(walletKey(wallet)) ?? undefined;
  }
}

/** A server takes 128 KB of wallets in one parameter, unless it is configured for more. */
const AT_ONCE = 2000;

/** Names of wallets from ClickHouse alone. */
export async function storedNames(clickhouse: Pick<ClickHouse, 'query'>, wallets: Iterable<Wallet>): Promise<NameOf> {
  const asked = [...known(wallets).values()];
  if (asked.length === 0) return () => undefined;
  const names = new Map<string, TraderName>();
  for (const part of partsOf(asked, AT_ONCE)) {
    const rows = await clickhouse.query('traders', TraderRow, {
      platforms: [...new Set(part.map(({ platform }) => platform))],
      wallets: [...new Set(part.map(({ wallet }) => wallet))],
    });
    for (const { platform, wallet, ...name } of rows) names.set(walletKey({ platform, wallet }), name);
  }
  return (wallet) => names.get(walletKey(wallet));
}
