import { createRng, KEPT_AFTER_END_MS, KEPT_TRADES, realClock, type Rng } from '../lib/index.ts';
import type { SimClock, WorldOptions } from '../simulator.ts';
import type { Taker } from './book.ts';
import { Catalog, type AmmSpec, type ClobSpec, type GroupSpec } from './catalog.ts';
import { Floor } from './floor.ts';
import { populate } from './genesis.ts';
import { Ids } from './ids.ts';
import { isExpired, Lifecycle, type Result } from './lifecycle.ts';
import { Desk } from './desk.ts';
import { Maintenance } from './maintenance.ts';
import { Members, type Profile, type ProfileSpec } from './members.ts';
import type { MemberOrder } from './orders.ts';
import type { AmmMarket, ClobMarket, Group, Market, Outcome, Trade } from './model.ts';

export interface LimitlessOptions extends WorldOptions {
  /** A trade shows in /events this long after it happened; volume and book show it at once. */
  minedDelayMs?: number;
}

/** The simulated exchange: what is true, in the platform's own terms, and the levers that move it. */
export class LimitlessWorld {
  readonly clock: SimClock;
  readonly ids: Ids;
  readonly floor: Floor;
  readonly lifecycle: Lifecycle;
  readonly maintenance = new Maintenance();
  readonly members: Members;
  readonly desk: Desk;
  /** A member who may trade at once, with the keys to act for him. */
  readonly demoProfile: { tokenId: string; secret: string; privateKey: `0x${string}`; address: `0x${string}` };
  minedDelayMs: number;
  private readonly catalog: Catalog;
  private readonly rng: Rng;
  private open: { revision: number; markets: ClobMarket[]; shares: number[]; total: number } | null = null;

  constructor(options: LimitlessOptions) {
    const seed = createRng(options.seed ?? 1);
    this.clock = options.clock ?? realClock;
    this.minedDelayMs = options.minedDelayMs ?? 0;
    const now = (): number => this.clock.now();
    this.ids = new Ids(seed.fork('ids'));
    this.rng = seed.fork('trading');
    const crowd = Array.from({ length: 60 }, (_, i) => this.ids.person(i % 3 !== 0));
    const [house, passers] = [crowd.slice(0, 8), crowd.slice(8)];
    const { keptTrades = KEPT_TRADES } = options;
    this.floor = new Floor({ rng: this.rng, ids: this.ids, now, house, crowd: passers, keptTrades });
    this.catalog = new Catalog(this.ids, now);
    this.lifecycle = new Lifecycle({
      catalog: this.catalog,
      rng: seed.fork('results'),
      onOpen: (market) => this.floor.quote(market),
      onResolved: (market, at) => this.members.settle(market, at),
    });
    const { ids, floor, lifecycle } = this;
    const people = seed.fork('members');
    this.members = new Members(people, ids);
    this.desk = new Desk({ ids, floor, lifecycle, now });
    const privateKey: `0x${string}` = `0x${people.hex(64)}`;
    const { tokenId, secret, address } = this.members.add({ privateKey });
    this.demoProfile = { tokenId, secret, privateKey, address };
    populate(
      { rng: seed.fork('genesis'), ids, catalog: this.catalog, lifecycle, floor },
      {
        now: now(),
        markets: options.markets ?? 30,
        tradesPerMarket: options.tradesPerMarket ?? 30,
        historyDays: options.historyDays ?? 7,
      },
    );
    // What there is at the start stays.
    while (this.lifecycle.passing.shift());
  }

  /** Whether the slug of a pool names it too, beside its address. */
  knowsPoolsBySlug = true;

  /** Every market that is kept, by slug, those of groups and pools included. */
  get markets(): ReadonlyMap<string, Market> {
    return this.catalog.markets;
  }

  get groups(): ReadonlyMap<string, Group> {
    return this.catalog.groups;
  }

  get series() {
    return this.catalog.series;
  }

  poolAt(address: string): AmmMarket | undefined {
    // Paths take the address with its checksum only.
    return this.catalog.byAddress.get(address);
  }

  slotsOf(stableSlug: string): ClobMarket[] {
    return this.catalog.slotsOf(stableSlug);
  }

  /** Order-book markets in which anyone may trade now. */
  openMarkets(): ClobMarket[] {
    this.advance();
    return this.tradable().markets;
  }

  /** Lets whatever is due by the clock happen. Every request does this first. */
  advance(): void {
    this.lifecycle.advance(this.clock.now());
    const { passing } = this.lifecycle;
    for (let slot = passing.first; slot && this.isPast(slot); slot = passing.first) {
      passing.shift();
      if (!this.desk.hasOrders(slot) && !this.members.hold(slot)) this.catalog.markets.delete(slot.slug);
    }
  }

  /** Makes exactly `count` trades on open order-book markets, popular ones first. */
  trade(count: number): void {
    this.advance();
    const { markets, shares, total } = this.tradable();
    if (markets.length === 0) throw new Error('no market is open for trading');
    for (let left = count; left > 0;) {
      const draw = this.rng.next() * total;
      const index = shares.findIndex((share) => draw < share);
      left -= this.floor.step(markets[index] as ClobMarket, left);
    }
  }

  /** One execution of a chosen taker order on a chosen market; null when the book had nothing for it. */
  tradeOn(slug: string, order: Omit<Taker, 'account'>): Trade | null {
    this.advance();
    return this.floor.take(this.clob(slug), { ...order, account: this.rng.pick(this.floor.crowd) })?.trade ?? null;
  }

  createMarket(spec: ClobSpec): ClobMarket {
    const market = this.catalog.addMarket(spec);
    return this.opened(market);
  }

  createPool(spec: AmmSpec): AmmMarket {
    return this.catalog.addAmm(spec);
  }

  createGroup(spec: GroupSpec, childTitles: string[]): Group {
    const group = this.catalog.addGroup(spec);
    for (const title of childTitles) this.addChild(group.slug, title);
    return group;
  }

  addChild(groupSlug: string, title: string): ClobMarket {
    const group = this.groups.get(groupSlug);
    if (!group) throw new RangeError(`no group ${groupSlug}`);
    const { automationType, categories, expiresAt } = group;
    return this.opened(this.catalog.addMarket({ title, automationType, categories, expiresAt }, group));
  }

  lock(slug: string): void {
    this.lifecycle.setStatus(this.clob(slug), 'LOCKED', this.clock.now());
  }

  unlock(slug: string): void {
    this.lifecycle.setStatus(this.clob(slug), 'FUNDED', this.clock.now());
  }

  /** The end of trading comes now; the status stays FUNDED for minutes. */
  expire(slug: string): void {
    const market = this.clob(slug);
    market.expiresAt = this.clock.now();
    this.lifecycle.endTrading(market);
    this.lifecycle.followExpiry(market);
  }

  /** The winner becomes known before the market is RESOLVED. */
  announce(slug: string, outcome: Outcome): void {
    this.lifecycle.announce(this.clob(slug), outcome, this.clock.now());
  }

  resolve(slug: string, result: Result): void {
    this.lifecycle.resolve(this.any(slug), result, this.clock.now());
  }

  /** The public tape of a market, oldest first: what /events shows by now. */
  tape(market: ClobMarket): Trade[] {
    const visible = this.visibleCount(market);
    return visible === market.trades.length ? market.trades : market.trades.slice(0, visible);
  }

  visibleCount(market: ClobMarket): number {
    const minedBy = this.clock.now() - this.minedDelayMs;
    let count = market.trades.length;
    while (count > 0 && (market.trades[count - 1] as Trade).at > minedBy) count -= 1;
    return count;
  }

  addProfile(spec: ProfileSpec): Profile {
    return this.members.add(spec);
  }

  /** Every order of an account, oldest first. */
  ordersOf(address: string): MemberOrder[] {
    const profile = this.members.withAddress(address);
    return profile ? this.desk.ordersOf(profile) : [];
  }

  private isPast({ status, expiresAt, trades }: ClobMarket): boolean {
    return status === 'RESOLVED' && expiresAt + KEPT_AFTER_END_MS < this.clock.now() && trades.length === 0;
  }

  private opened(market: ClobMarket): ClobMarket {
    this.lifecycle.followExpiry(market);
    this.lifecycle.revision += 1;
    this.floor.quote(market);
    return market;
  }

  private any(slug: string): Market {
    const market = this.markets.get(slug);
    if (!market) throw new RangeError(`no market ${slug}`);
    return market;
  }

  private clob(slug: string): ClobMarket {
    const market = this.any(slug);
    if (market.kind !== 'clob') throw new RangeError(`${slug} has no order book`);
    return market;
  }

  private tradable(): { markets: ClobMarket[]; shares: number[]; total: number } {
    const { revision } = this.lifecycle;
    if (this.open?.revision === revision) return this.open;
    const now = this.clock.now();
    const markets: ClobMarket[] = [];
    const shares: number[] = [];
    let total = 0;
    for (const market of this.markets.values()) {
      if (market.kind !== 'clob' || market.status !== 'FUNDED' || isExpired(market, now) || market.popularity === 0)
        continue;
      total += market.popularity;
      markets.push(market);
      shares.push(total);
    }
    this.open = { revision, markets, shares, total };
    return this.open;
  }
}
