import { keptStates, Rows } from '../lib/index.ts';
import { Book } from './book.ts';
import { slugOf, type Ids } from './ids.ts';
import { manualHtml, sportsText } from './texts.ts';
import type { AmmMarket, ClobMarket, Collateral, Group, Market, Series, Venue } from './model.ts';

export const USDC: Collateral = { address: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913', decimals: 6, symbol: 'USDC' };
export const WETH: Collateral = { address: '0x4200000000000000000000000000000000000006', decimals: 18, symbol: 'WETH' };
export const PLAIN_VENUE: Venue = { exchange: '0x05c748E2f4DcDe0ec9Fa8DDc40DE6b867f923fa5', adapter: null };
export const NEG_RISK_VENUE: Venue = {
  exchange: '0xe3E00BA3a9888d1DE4834269f62ac008b4BB5C47',
  adapter: '0x6151EF8368b6316c1aa3C68453EF083ad31E712D',
};

/** What a new CLOB market is made from; everything but the title has a default. Times are Unix milliseconds. */
export type ClobSpec = { title: string } & Partial<
  Pick<
    ClobMarket,
    | 'slug'
    | 'description'
    | 'automationType'
    | 'status'
    | 'hidden'
    | 'createdAt'
    | 'startAt'
    | 'expiresAt'
    | 'categories'
    | 'tags'
    | 'metadata'
    | 'propertyDomain'
    | 'fairTick'
    | 'halfSpread'
    | 'popularity'
    | 'takerDelayMs'
    | 'chargesFees'
    | 'series'
    | 'rewardMinSize'
    | 'dailyRewardUsd'
  >
>;
export type GroupSpec = { title: string; isNegRisk: boolean } & Partial<
  Pick<Group, 'automationType' | 'createdAt' | 'expiresAt' | 'categories' | 'tags' | 'metadata'>
>;
export type AmmSpec = { title: string } & Partial<
  Pick<
    AmmMarket,
    'status' | 'collateral' | 'isOldForm' | 'yesPercent' | 'createdAt' | 'expiresAt' | 'categories' | 'winningOutcome'
  >
>;

const DAY_MS = 86_400_000;

export const newQuotes = (): Rows => new Rows(3, keptStates(60_000));

/** Every market and group that is kept, by the keys the platform knows. */
export class Catalog {
  readonly markets = new Map<string, Market>();
  readonly groups = new Map<string, Group>();
  readonly byAddress = new Map<string, AmmMarket>();
  private readonly ids: Ids;
  private readonly now: () => number;

  constructor(ids: Ids, now: () => number) {
    this.ids = ids;
    this.now = now;
  }

  addMarket(spec: ClobSpec, group: Group | null = null): ClobMarket {
    const createdAt = spec.createdAt ?? this.now();
    const automationType = spec.automationType ?? 'manual';
    const chargesFees = spec.chargesFees ?? true;
    const market: ClobMarket = {
      kind: 'clob',
      ...this.common(spec.title, spec.slug, createdAt),
      description: spec.description ?? (automationType === 'sports' ? sportsText(spec.title) : manualHtml(spec.title)),
      collateral: USDC,
      automationType,
      status: spec.status ?? 'FUNDED',
      hidden: spec.hidden ?? false,
      createdAt,
      updatedAt: Math.min(createdAt + 41_000, this.now()),
      startAt: spec.startAt ?? null,
      expiresAt: spec.expiresAt ?? createdAt + 30 * DAY_MS,
      categories: spec.categories ?? ['Politics'],
      tags: spec.tags ?? ['Limitless'],
      volume: 0n,
      winningOutcome: null,
      decidedAt: null,
      payoutNumerators: null,
      metadata: { fee: chargesFees, isBannered: false, isPolyArbitrage: false, ...spec.metadata },
      group,
      orderInGroup: group ? (group.children.at(-1)?.orderInGroup ?? 75) + 31 : 0,
      negRiskRequestId: group?.negRiskMarketId ? this.ids.bytes32() : null,
      venue: group?.venue ?? PLAIN_VENUE,
      rewardMinSize: spec.rewardMinSize ?? 100_000_000n,
      rewardMaxSpread: 35,
      dailyRewardUsd: spec.dailyRewardUsd ?? 0,
      takerDelayMs: spec.takerDelayMs ?? 0,
      chargesFees,
      series: spec.series ?? null,
      propertyDomain: spec.propertyDomain ?? null,
      book: new Book(),
      trades: [],
      settledTrades: 0,
      lastTrade: null,
      quotes: newQuotes(),
      fairTick: spec.fairTick ?? 500,
      halfSpread: spec.halfSpread ?? 6,
      popularity: spec.popularity ?? 1,
    };
    group?.children.push(market);
    this.markets.set(market.slug, market);
    return market;
  }

  addGroup(spec: GroupSpec): Group {
    const createdAt = spec.createdAt ?? this.now();
    const group: Group = {
      id: this.ids.group(),
      slug: this.freeSlug(spec.title.replace(/_{2,}/, ''), createdAt),
      title: spec.title,
      negRiskMarketId: spec.isNegRisk ? this.ids.bytes32() : null,
      venue: spec.isNegRisk ? NEG_RISK_VENUE : PLAIN_VENUE,
      automationType: spec.automationType ?? 'manual',
      createdAt,
      updatedAt: Math.min(createdAt + 52_000, this.now()),
      expiresAt: spec.expiresAt ?? createdAt + 30 * DAY_MS,
      categories: spec.categories ?? ['Politics'],
      tags: spec.tags ?? [],
      metadata: { fee: true, ...(spec.isNegRisk ? {} : { type: 'ladder' }), ...spec.metadata },
      children: [],
    };
    this.groups.set(group.slug, group);
    return group;
  }

  addAmm(spec: AmmSpec): AmmMarket {
    const createdAt = spec.createdAt ?? this.now();
    const isOver = spec.winningOutcome !== undefined && spec.winningOutcome !== null;
    const market: AmmMarket = {
      kind: 'amm',
      ...this.common(spec.title, undefined, createdAt),
      address: this.ids.address(),
      description: spec.title,
      collateral: spec.collateral ?? USDC,
      automationType: 'manual',
      status: spec.status ?? 'FUNDED',
      hidden: false,
      createdAt,
      updatedAt: Math.min(createdAt + 65_000, this.now()),
      startAt: null,
      expiresAt: spec.expiresAt ?? createdAt + 20 * DAY_MS,
      categories: spec.categories ?? ['Crypto'],
      tags: ['Daily'],
      volume: 0n,
      winningOutcome: spec.winningOutcome ?? null,
      decidedAt: null,
      payoutNumerators: isOver ? [spec.winningOutcome === 0 ? 1 : 0, spec.winningOutcome === 1 ? 1 : 0] : null,
      metadata: {},
      isOldForm: spec.isOldForm ?? false,
      yesPercent: spec.yesPercent ?? 5000,
      liquidity: 250n * 10n ** BigInt((spec.collateral ?? USDC).decimals),
      openInterest: 0n,
      trades: [],
    };
    this.markets.set(market.slug, market);
    this.byAddress.set(market.address, market);
    return market;
  }

  /** Slots of one recurring series, oldest first. */
  slotsOf(stableSlug: string): ClobMarket[] {
    const slots: ClobMarket[] = [];
    for (const market of this.markets.values()) {
      if (market.kind === 'clob' && market.series?.stableSlug === stableSlug) slots.push(market);
    }
    return slots;
  }

  readonly series: Series[] = [];

  private common(title: string, slug: string | undefined, createdAt: number) {
    return {
      id: this.ids.market(),
      slug: slug ?? this.freeSlug(title, createdAt),
      title,
      conditionId: this.ids.bytes32(),
      tokens: [this.ids.token(), this.ids.token()] as [string, string],
    };
  }

  /** The slug ends in the millisecond of creation; twins of one millisecond get the next free one. */
  private freeSlug(title: string, createdAt: number): string {
    let at = Math.floor(createdAt);
    while (this.markets.has(slugOf(title, at)) || this.groups.has(slugOf(title, at))) at += 1;
    return slugOf(title, at);
  }
}
