import type { Rng } from '../lib/index.ts';
import { newQuotes, WETH, type Catalog, type ClobSpec } from './catalog.ts';
import { NOBODY_QUOTES, type Floor } from './floor.ts';
import { growHistory, settle } from './history.ts';
import type { Ids } from './ids.ts';
import { isExpired, type Lifecycle } from './lifecycle.ts';
import type { AmmMarket, ClobMarket, Group, Series } from './model.ts';
import { fixture, manualQuestion } from './texts.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

export interface Growth {
  now: number;
  markets: number;
  tradesPerMarket: number;
  historyDays: number;
}

interface Ground {
  rng: Rng;
  ids: Ids;
  catalog: Catalog;
  lifecycle: Lifecycle;
  floor: Floor;
}

const SERIES: Series[] = [
  recurring('btc-5min-price', 'BTC', 5),
  recurring('btc-15min-price', 'BTC', 15),
  recurring('eth-15min-price', 'ETH', 15),
];
const PAST_SLOTS = [1, 3, 1];

/** Fills an empty world: a fixed cast with every oddity of the platform first, then ordinary markets up to the wanted number. */
export function populate(ground: Ground, growth: Growth): void {
  const builder = new Builder(ground, growth);
  builder.cast();
  while (ground.catalog.markets.size < growth.markets) builder.more();
  ground.lifecycle.advance(growth.now);
  builder.history();
}

class Builder {
  private readonly ground: Ground;
  private readonly growth: Growth;
  private count = 0;
  private manuals = 0;
  private readonly endings: (() => void)[] = [];
  private readonly untraded = new Set<ClobMarket>();

  constructor(ground: Ground, growth: Growth) {
    this.ground = ground;
    this.growth = growth;
  }

  cast(): void {
    const { lifecycle } = this.ground;
    this.manual({ halfSpread: 4, popularity: 9 });
    this.manual({ chargesFees: false });
    this.manual({ fairTick: 500, halfSpread: 498, popularity: 0 });
    this.untraded.add(this.manual({ popularity: 0, halfSpread: NOBODY_QUOTES }));
    const locked = this.manual({});
    this.endings.push(() => lifecycle.setStatus(locked, 'LOCKED', this.growth.now - HOUR_MS));
    this.sports({ takerDelayMs: 250 });
    this.sports({});
    this.negRisk();
    this.match();
    const ladder = this.ladder();
    this.endings.push(() => lifecycle.resolve(ladder.children[0] as ClobMarket, 0, this.growth.now));
    this.pools();
    SERIES.forEach((series, i) => this.recurring(series, PAST_SLOTS[i] as number));
    this.over(this.manual({}), 0);
    this.over(this.sports({}), 1);
    this.over(this.manual({}), 'split');
  }

  /** Mostly singles, some groups, one in ten over. */
  more(): void {
    const turn = this.count % 20;
    if (turn === 7) this.negRisk();
    else if (turn === 13) this.ladder();
    else if (turn === 17) this.match();
    else if (turn % 10 === 4) this.over(this.manual({}), this.ground.rng.chance(0.4) ? 0 : 1);
    else if (turn % 3 === 0) this.sports({});
    else this.manual({});
  }

  /** Past trades for every market that was ever open, then the books, then the ends that were decided above. */
  history(): void {
    const { catalog, floor, ids, rng } = this.ground;
    const { now, tradesPerMarket, historyDays } = this.growth;
    for (const market of catalog.markets.values()) {
      if (market.kind === 'amm') {
        growPool(market, { count: Math.min(tradesPerMarket, 20), now, rng, ids, floor });
        continue;
      }
      if (market.status === 'CREATED') continue;
      market.quotes = newQuotes();
      const from = Math.max(market.startAt ?? market.createdAt, now - historyDays * DAY_MS);
      const to = Math.min(now, market.expiresAt);
      const count = this.untraded.has(market) ? 0 : tradesPerMarket;
      if (to > from) growHistory(market, { count, from, to, rng, ids, accounts: floor.crowd });
      if (market.status === 'FUNDED' && !isExpired(market, now)) floor.quote(market);
    }
    for (const end of this.endings) end();
    for (const market of catalog.markets.values()) if (market.kind === 'clob') settle(market);
  }

  private manual(spec: Partial<ClobSpec>): ClobMarket {
    const { rng } = this.ground;
    const { title, categories, domain, tags } = manualQuestion(rng, this.manuals++);
    return this.single({
      title,
      categories,
      propertyDomain: domain,
      tags,
      fairTick: rng.int(60, 940),
      halfSpread: rng.int(2, 12),
      dailyRewardUsd: rng.pick([0, 0, 10, 25]),
      expiresAt: this.growth.now + rng.int(3, 200) * DAY_MS,
      ...spec,
    });
  }

  private sports(spec: Partial<ClobSpec>): ClobMarket {
    const { rng, ids } = this.ground;
    const { home, away } = fixture(rng);
    return this.single({
      title: `${home} vs ${away}`,
      automationType: 'sports',
      categories: ['Sports', 'Football Matches'],
      tags: ['Sports'],
      propertyDomain: 'sports',
      fairTick: rng.int(150, 850),
      metadata: { homeTeam: home, fixtureId: ids.market() },
      expiresAt: this.growth.now + rng.int(6, 140) * HOUR_MS,
      ...spec,
    });
  }

  private single(spec: ClobSpec): ClobMarket {
    this.count += 1;
    const market = this.ground.catalog.addMarket({
      createdAt: this.birth(),
      popularity: 1 / (1 + (this.count % 17)),
      ...spec,
    });
    this.ground.lifecycle.followExpiry(market);
    return market;
  }

  private birth(): number {
    return this.growth.now - this.ground.rng.int(2 * HOUR_MS, Math.ceil(this.growth.historyDays * DAY_MS));
  }

  private negRisk(): Group {
    const { rng } = this.ground;
    const group = this.group({
      title: `Which party will lead ${rng.pick(['Norland', 'Varda', 'Kestria'])}?`,
      isNegRisk: true,
    });
    this.children(group, ['Reform Union', 'Green List', 'Civic Alliance'], rng.int(300, 600));
    return group;
  }

  private match(): Group {
    const { home, away } = fixture(this.ground.rng);
    const group = this.group({
      title: `${home} vs ${away}`,
      isNegRisk: true,
      automationType: 'sports',
      categories: ['Sports'],
    });
    this.children(group, [home, 'Draw', away], 450);
    for (const child of group.children) child.metadata = { ...child.metadata, groupSlug: group.slug };
    return group;
  }

  private ladder(): Group {
    const { rng, catalog } = this.ground;
    // Copies of another platform's questions have three underscores.
    const gap = catalog.groups.size % 2 === 0 ? '___' : '__';
    const group = this.group({
      title: `${rng.pick(['Orbita', 'Brightwell'])} satellites in orbit above ${gap} in Q4 2026?`,
      isNegRisk: false,
      categories: ['Monthly', 'Science'],
    });
    this.children(group, ['25', '50', '75', '100'], 900);
    return group;
  }

  private group(spec: Parameters<Catalog['addGroup']>[0]): Group {
    this.count += 1;
    const { catalog, rng } = this.ground;
    return catalog.addGroup({ createdAt: this.birth(), expiresAt: this.growth.now + rng.int(4, 90) * DAY_MS, ...spec });
  }

  private children(group: Group, titles: string[], first: number): void {
    const { catalog, lifecycle } = this.ground;
    titles.forEach((title, i) => {
      const child = catalog.addMarket(
        {
          title,
          automationType: group.automationType,
          createdAt: group.createdAt + 9 + i * 13,
          expiresAt: group.expiresAt,
          categories: group.categories,
          fairTick: Math.round(first / (i + 1)),
          popularity: 1 / (i + 2),
        },
        group,
      );
      lifecycle.followExpiry(child);
    });
  }

  private pools(): void {
    const { catalog } = this.ground;
    const { now } = this.growth;
    catalog.addAmm({
      title: 'Estmark to qualify for the finals?',
      createdAt: now - 3 * DAY_MS,
      expiresAt: now + 9 * DAY_MS,
      yesPercent: 4280,
    });
    catalog.addAmm({
      title: 'Will $MAPLE have 1M+ holders?',
      status: 'MarketStatus.FUNDED',
      collateral: WETH,
      isOldForm: true,
      createdAt: now - 500 * DAY_MS,
      expiresAt: now + 30 * DAY_MS,
    });
    catalog.addAmm({
      title: 'Will Aldane Motors close above $135.34?',
      status: 'MarketStatus.RESOLVED',
      isOldForm: true,
      createdAt: now - 400 * DAY_MS,
      expiresAt: now - 390 * DAY_MS,
      winningOutcome: 1,
    });
  }

  private recurring(series: Series, pastSlots: number): void {
    const lengthMs = series.minutes * 60_000;
    const current = Math.floor(this.growth.now / lengthMs) * lengthMs;
    this.ground.catalog.series.push(series);
    this.ground.lifecycle.addSlot(series, current - pastSlots * lengthMs);
  }

  private over(market: ClobMarket, result: 0 | 1 | 'split'): void {
    market.expiresAt = this.growth.now - this.ground.rng.int(1, 20) * 60_000;
    this.endings.push(() => this.ground.lifecycle.resolve(market, result, market.expiresAt + 1));
  }
}

function recurring(stableSlug: string, symbol: string, minutes: number): Series {
  return {
    stableSlug,
    symbol,
    title: `${symbol} Up or Down - ${minutes} Min`,
    slugPrefix: `${symbol.toLowerCase()}-up-or-down-${minutes}-min`,
    minutes,
    frequency: 'minutely',
    subFrequency: `minutes_${minutes}`,
    categories: ['Minutely', `${minutes} min`],
  };
}

function growPool(market: AmmMarket, options: { count: number; now: number; rng: Rng; ids: Ids; floor: Floor }): void {
  const { count, rng, ids } = options;
  const from = market.createdAt;
  const to = Math.min(options.now, market.expiresAt);
  const unit = 10n ** BigInt(market.collateral.decimals);
  for (let i = 0; i < count; i++) {
    market.yesPercent = Math.min(9500, Math.max(500, market.yesPercent + rng.int(-300, 300)));
    const outcome = rng.chance(0.5) ? 0 : 1;
    const percent = outcome === 0 ? market.yesPercent : 10_000 - market.yesPercent;
    const collateral = (BigInt(rng.int(1, 500)) * unit) / 100n;
    market.trades.push({
      at: Math.floor(from + ((to - from) * (i + 1)) / (count + 1)),
      txHash: ids.txHash(),
      outcome,
      side: rng.chance(0.8) ? 'BUY' : 'SELL',
      shares: (collateral * 10_000n) / BigInt(percent),
      collateral,
      yesAfter: market.yesPercent,
      account: rng.pick(options.floor.crowd),
    });
    market.volume += collateral;
  }
  market.openInterest = (market.volume * 19n) / 20n;
}
