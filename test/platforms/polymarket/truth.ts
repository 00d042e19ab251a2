import type { Clock } from '../../../src/core/time.ts';
import { StoppableClock } from '../../oracle/clock.ts';
import { polymarketEvents, polymarketSeries } from '../../oracle/events.ts';
import { besideTruth, type Pipeline, type ServedMarket, type ServedPoint } from '../../oracle/pipeline.ts';
import {
  openInterestOf,
  polymarketBook,
  polymarketHistory,
  polymarketMarket,
  polymarketTrades,
} from '../../oracle/polymarket.ts';
import { type Difference, differences } from '../../oracle/vocabulary.ts';
import { startPolymarket } from '../../simulators/polymarket.ts';
import { hasBook, type SimMarket } from '../../simulators/polymarket/world/model.ts';
import type { PolymarketWorld } from '../../simulators/polymarket/world/world.ts';
import type { Simulator } from '../../simulators/simulator.ts';
import { marketTradePages, wrongMarketTrades } from '../contract/market-trades.ts';
import type { Listing, PlatformTruth, Row, Span } from '../contract/truth.ts';

const DAY = 86_400;
const STATUSES = ['closed', 'open', 'paused', 'settled', 'unopened'];
const TYPES = ['binary', 'multiple_choice', 'scalar'];

export async function startPolymarketTruth(service?: Clock): Promise<PolymarketTruth> {
  const clock = new StoppableClock(service);
  const sim = await startPolymarket({ seed: 21, clock, markets: 70, tradesPerMarket: 40, historyDays: 20 });
  return new PolymarketTruth(sim, clock);
}

export class PolymarketTruth implements PlatformTruth {
  readonly platform = 'polymarket';
  readonly sim: Simulator<PolymarketWorld>;
  readonly clock: StoppableClock;
  readonly world: PolymarketWorld;
  readonly kinds = [...STATUSES, ...TYPES];
  /** The event, which would bring them, is hidden too. */
  readonly unlistedLater = ['category', 'tags'];
  readonly unknownId = 'no-such-market';
  readonly words = ['merrow', 'Northland presidential', 'gulls foxes'];
  readonly hasBars = false;
  readonly eventStates = ['open', 'paused', 'closed', 'settled'];
  readonly faults = {
    endpoints: [/\/gamma\/events\/keyset/, /\/data\/v2\/trades/, /\/gamma\/markets\/keyset/],
    first: 8,
    rounds: 2,
  };
  readonly listing: Listing;
  readonly trades = marketTradePages(this.platform);
  readonly #startedMs: number;

  constructor(sim: Simulator<PolymarketWorld>, clock: StoppableClock) {
    this.sim = sim;
    this.clock = clock;
    this.#startedMs = clock.service.now();
    this.world = sim.world;
    this.listing = {
      url: `${sim.env['POLYMARKET_GAMMA_URL']}/events/keyset?closed=false&limit=100`,
      rows: ({ events = [] }) => events.flatMap((event) => (event['markets'] ?? []) as Row[]),
      idOf: (row) => row['id'],
      spoil: (row) => void (row['outcomes'] = 'two'),
      required: 'outcomes',
    };
  }

  /** Archived markets and placeholders are in no list: they must be asked for. */
  listedMarkets(): SimMarket[] {
    this.world.advance();
    return this.world.markets.filter((market) => !market.archived && !market.negRiskOther);
  }

  tradingMarkets(): SimMarket[] {
    return this.listedMarkets().filter((market) => market.state === 'open' && hasBook(market) && market.volume > 0n);
  }

  oneOf(wanted: (market: SimMarket) => boolean): SimMarket {
    const found = this.listedMarkets().find(wanted);
    if (!found) throw new Error('the cast lacks such a market');
    return found;
  }

  #byId(id: string): SimMarket {
    const found = this.world.markets.find((market) => market.id === id);
    if (!found) throw new Error(`the world has no market ${id}`);
    return found;
  }

  listed(): string[] {
    return this.listedMarkets().map(({ id }) => id);
  }

  trading(): string[] {
    return this.tradingMarkets()
      .toSorted((a, b) => b.trades.length - a.trades.length)
      .map(({ id }) => id);
  }

  mayBeServed(row: ServedMarket): boolean {
    return this.world.markets.some(({ id }) => id === row.platform_id);
  }

  wrongFields(id: string, row: ServedMarket | undefined): Difference[] {
    if (!row) return differences(id, row, {});
    const market = this.#byId(id);
    const syncedMs = Date.parse(row.last_synced_at);
    // Of what had stopped trading before the service came it is not known, or not yet reported.
    const unreported = market.state !== 'open' && row.open_interest === null;
    const openInterest = market.volume === 0n || unreported ? null : openInterestOf(market);
    const truth = polymarketMarket(this.world, market, { syncedMs, worldMs: this.clock.at(syncedMs) }, openInterest);
    const { open_interest_at: _read, ...metadata } = row.metadata;
    return differences(id, { ...row, metadata }, { ...truth, ...besideTruth(row, truth) });
  }

  kindsOf(rows: readonly ServedMarket[]): string[] {
    return rows.flatMap((row) => [row.status, row.market_type]);
  }

  spellings(id: string): string[] {
    const { slug, conditionId } = this.#byId(id);
    return [id, `polymarket:${id}`, slug, conditionId.toUpperCase().replace('X', 'x')];
  }

  unlisted(): { name: string; id: string }[] {
    const { id } = this.world.markets.find(({ archived }) => archived)!;
    return [{ name: id, id }];
  }

  noteAsked(): void {
    // A listed record of any market of the world is right.
  }

  events() {
    return polymarketEvents(this.world);
  }

  series() {
    return polymarketSeries(this.world);
  }

  event(): { id: string; market: string } {
    const [market] = this.tradingMarkets() as [SimMarket, ...SimMarket[]];
    return { id: market.event.id, market: market.id };
  }

  async listedRow(id: string): Promise<Row> {
    const body = (await (await fetch(this.listing.url)).json()) as Record<string, Row[]>;
    return this.listing.rows(body).find((row) => this.listing.idOf(row) === id) ?? {};
  }

  fromParents(raw: Row): Partial<ServedMarket> {
    const { event } = raw as { event: { id: string; title: string } };
    return { event_id: event.id, event_name: event.title };
  }

  tradeIds(): string[] {
    return this.world.markets.flatMap((market) => polymarketTrades(this.world, market).map((one) => one.trade_id));
  }

  wrongTrades(service: Pipeline, ids: readonly string[]): Promise<Difference[]> {
    return wrongMarketTrades(service, this.platform, ids, (id) => polymarketTrades(this.world, this.#byId(id)));
  }

  booked(): string[] {
    const open = this.listedMarkets().filter(({ state }) => state === 'open');
    const settled = this.oneOf((market) => market.state === 'resolved' && hasBook(market));
    const coarse = this.oneOf(({ tick }) => tick === 1_000_000n);
    return [...open.slice(0, 10), coarse, settled].map(({ id }) => id);
  }

  book(id: string) {
    return polymarketBook(this.world, this.#byId(id));
  }

  bookDates(id: string): [number, number] {
    const shown = this.world.book(this.#byId(id))?.updatedMs;
    return shown === undefined ? [0, Infinity] : [shown, shown];
  }

  history({ id, fromTs, toTs }: Span, stepMin: number): ServedPoint[] {
    return polymarketHistory(this.world, this.#byId(id), { fromTs, toTs, stepMin });
  }

  /** Up to the start of the service: from then on it adds quotes. */
  charts(stepMin: number): Span[] {
    const toTs = Math.floor(this.#startedMs / (stepMin * 60_000)) * stepMin * 60;
    const teams = this.tradingMarkets().find(({ outcomes }) => outcomes[0] === 'Gulls')!;
    const other = this.trading().find((id) => id !== teams.id)!;
    return [other, teams.id].map((id) => ({ id, fromTs: toTs - (stepMin === 1 ? 2 : 12) * DAY, toTs }));
  }

  mergedCharts(): Span[] {
    const toTs = Math.floor(this.#startedMs / 1000 / DAY) * DAY;
    return this.trading()
      .slice(0, 3)
      .map((id) => ({ id, fromTs: toTs - 12 * DAY, toTs }));
  }

  changeSome() {
    const { world } = this;
    const [paused, closed, yes, no, split] = this.tradingMarkets() as [SimMarket, ...SimMarket[]];
    world.pauseMarket(paused);
    world.closeMarket(closed!, { uma: 'proposed' });
    world.resolveMarket(yes!, 0);
    world.resolveMarket(no!, 1);
    world.resolveMarket(split!, 'split');
    world.openMarket(this.oneOf(({ state }) => state === 'unopened'));
    const event = world.createEvent({ title: 'Which comet comes first?', tags: [world.catalog.tag('Science')] });
    for (const name of ['Halley', 'Encke']) world.createMarket({ question: `Will ${name} come first?` }, event);
    return [
      { id: yes!.id, prices: [1, 0] },
      { id: no!.id, prices: [0, 1] },
      { id: split!.id, prices: [0.5, 0.5] },
    ];
  }

  setDown(down: boolean): void {
    if (down) this.sim.inject({ match: /./, times: Infinity, kind: 'status', status: 503, body: 'down' });
    else this.sim.clearFaults();
  }
}
