import { z } from 'zod';
import { Cache } from '../core/cache.ts';
import type { Platform } from '../core/model.ts';
import type { ClickHouse } from '../stores/clickhouse/client.ts';

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
const walletKey = ({ platform, wallet }: { platform: string; wallet: string }): string => `${platform}:${wallet}`;

/** Wallets of which a process keeps the name: about 20 MB. */
const KEPT = 50_000;
/** How long a name is kept where stored changes are announced. */
const KEPT_MS = 60_000;

/** Names of traders, as last reported by their platforms. */
export class TraderNames {
  readonly #clickhouse: Pick<ClickHouse, 'query'>;
  /** null: no name is stored. */
  readonly #names: Cache<string, TraderName | null>;

  /** `keptMs`: how long a name is kept unless it is forgotten. */
  constructor(clickhouse: Pick<ClickHouse, 'query'>, keptMs = KEPT_MS) {
    this.#clickhouse = clickhouse;
    this.#names = new Cache({ limit: KEPT, ttlMs: keptMs });
  }

  /** The name of each of these wallets; undefined for those without one. At most one statement. */
  async of(wallets: Iterable<Wallet>): Promise<(wallet: Wallet) => TraderName | undefined> {
    const found = new Map<string, TraderName>();
    const unknown = new Map<string, Wallet>();
    for (const one of wallets) {
      const key = walletKey(one);
      const kept = one.wallet === '' ? null : this.#names.get(key);
      if (kept === undefined) unknown.set(key, one);
      else if (kept) found.set(key, kept);
    }
    if (unknown.size > 0) {
      await this.#names.readAll([...unknown.keys()], async () => {
        const rows = await this.#clickhouse.query('traders', TraderRow, {
          platforms: [...new Set(Array.from(unknown.values(), ({ platform }) => platform))],
          wallets: [...new Set(Array.from(unknown.values(), ({ wallet }) => wallet))],
        });
        for (const { platform, wallet, ...name } of rows) found.set(walletKey({ platform, wallet }), name);
        return Array.from(unknown.keys(), (key) => [key, found.get(key) ?? null]);
      });
    }
    return (wallet) => found.get(walletKey(wallet));
  }

  /** Drops names that were stored again. */
  forget(platform: Platform, wallets: readonly string[]): void {
    for (const wallet of wallets) this.#names.delete(walletKey({ platform, wallet }));
  }

  /** Drops every name, after changes may have been missed. */
  forgetAll(): void {
    this.#names.clear();
  }
}
