import { z } from 'zod';
import { Cache } from '../core/cache.ts';
import type { Platform } from '../core/model.ts';
import type { ClickHouse } from '../stores/clickhouse/client.ts';

const TraderRow = z.object({ wallet: z.string(), name: z.string(), pseudonym: z.string(), profile_image: z.string() });
export type TraderName = Omit<z.infer<typeof TraderRow>, 'wallet'>;

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

  /** The names of wallets, 0x addresses in lower case; '' and wallets without a name are left out. */
  async of(platform: Platform, wallets: Iterable<string>): Promise<Map<string, TraderName>> {
    const found = new Map<string, TraderName>();
    const unknown: string[] = [];
    for (const wallet of new Set(wallets)) {
      const kept = wallet === '' ? null : this.#names.get(`${platform}:${wallet}`);
      if (kept === undefined) unknown.push(wallet);
      else if (kept) found.set(wallet, kept);
    }
    if (unknown.length === 0) return found;
    const names = unknown.map((wallet) => `${platform}:${wallet}`);
    await this.#names.readAll(names, async () => {
      const rows = await this.#clickhouse.query('traders', TraderRow, { platform, wallets: unknown });
      for (const { wallet, ...name } of rows) found.set(wallet, name);
      return unknown.map((wallet) => [`${platform}:${wallet}`, found.get(wallet) ?? null]);
    });
    return found;
  }

  /** Drops names that were stored again. */
  forget(platform: Platform, wallets: readonly string[]): void {
    for (const wallet of wallets) this.#names.delete(`${platform}:${wallet}`);
  }

  /** Drops every name, after changes may have been missed. */
  forgetAll(): void {
    this.#names.clear();
  }
}
