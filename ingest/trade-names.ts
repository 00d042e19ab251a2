import type { Clock } from '../src/core/time.ts';
import { Cache } from '../src/core/cache.ts';
import type { TradeCopier } from '../src/present/trades/copier.ts';
import { bytesText, type CopiedName } from '../src/present/trades/rows.ts';
import type { ClickHouse, Urgency } from '../src/stores/clickhouse/client.ts';
import type { Platform, TradeRecord } from '../src/core/model.ts';
import { ADDRESS } from '../src/core/text.ts';

/** Maximum references in memory; storing a dropped one again has no effect. */
const REFS_KEPT = 500_000;
const TRADERS_KEPT = 200_000;

interface TradeNamesDeps {
  clock: Clock;
  clickhouse: ClickHouse;
  platform: Platform;
  /** Whether somebody waits for the trades. */
  isUrgent: () => boolean;
  copier: Pick<TradeCopier, 'named'>;
}

interface TraderRow extends Omit<CopiedName, 'wallet'> {
  platform: Platform;
  address: string;
}

/** Stores the markets and traders that trades refer to, if new or changed. */
export class TradeNames {
  readonly #deps: TradeNamesDeps;
  readonly #refs = new Cache<string, true>({ limit: REFS_KEPT });
  /** Fingerprints of the names of wallets. */
  readonly #traders = new Cache<string, string>({ limit: TRADERS_KEPT });

  constructor(deps: TradeNamesDeps) {
    this.#deps = deps;
  }

  /** Call it before trades are inserted: a trade must never be visible without its names. Repeating it is harmless. */
  async store(trades: readonly TradeRecord[], { isUrgent = false }: Urgency = {}): Promise<void> {
    const { platform, clickhouse, clock } = this.#deps;
    const options = { isUrgent: isUrgent || this.#deps.isUrgent() };
    const refs = [...new Set(trades.map((trade) => trade.ref))].filter((ref) => !this.#refs.get(ref));
    const people = new Map<string, { fingerprint: string; row: TraderRow }>();
    for (const { trader } of trades) {
      if (!trader || trader.address === '') continue;
      const fingerprint = `${trader.name}\n${trader.pseudonym}\n${trader.profileImage}`;
      const address = trader.address.toLowerCase();
      const last = people.get(address)?.fingerprint ?? this.#traders.get(address);
      if (last === fingerprint) continue;
      const row = {
        platform,
        address,
        name: trader.name.toWellFormed(),
        pseudonym: trader.pseudonym.toWellFormed(),
        profile_image: trader.profileImage.toWellFormed(),
        seen_at: new Date(clock.now()).toISOString(),
      };
      people.set(address, { fingerprint, row });
    }
    await Promise.all([
      clickhouse.insert(
        'market_refs (platform, ref)',
        refs.map((ref) => ({ platform, ref })),
        options,
      ),
      clickhouse.insert(
        'traders (platform, address, name, pseudonym, profile_image, seen_at)',
        [...people.values()].map(({ row }) => row),
        options,
      ),
    ]);
    for (const ref of refs) this.#refs.set(ref, true);
    if (people.size === 0) return;
    await this.#deps.copier.named(
      [...people.values()].flatMap(({ row: { platform: _platform, address, ...names } }) =>
        ADDRESS.test(address) ? [{ wallet: bytesText(address), ...names }] : [],
      ),
    );
    for (const [address, { fingerprint }] of people) this.#traders.set(address, fingerprint);
  }
}
