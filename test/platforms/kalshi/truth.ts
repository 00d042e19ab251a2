import type { Clock } from '../../../src/core/time.ts';
import { StoppableClock } from '../../oracle/clock.ts';
import { kalshiEvents, kalshiSeries } from '../../oracle/events.ts';
import { kalshiBook, kalshiHistory, kalshiMarket, kalshiTrades } from '../../oracle/kalshi.ts';
import { besideTruth, type Pipeline, type ServedMarket, type ServedPoint } from '../../oracle/pipeline.ts';
import { type Difference, differences } from '../../oracle/vocabulary.ts';
import { type KalshiWorld, startKalshi } from '../../simulators/kalshi.ts';
import type { SimMarket } from '../../simulators/kalshi/market.ts';
import type { Simulator } from '../../simulators/simulator.ts';
import { marketTradePages, wrongMarketTrades } from '../contract/market-trades.ts';
import type { Listing, PlatformTruth, Row, Span } from '../contract/truth.ts';

const DAY = 86_400;
const STATUSES = ['active', 'closed', 'determined', 'disputed', 'finalized', 'inactive', 'initialized'];

export async function startKalshiTruth(service?: Clock): Promise<KalshiTruth> {
  const clock = new StoppableClock(service);
  return new KalshiTruth(
    await startKalshi({ seed: 21, clock, markets: 66, tradesPerMarket: 60, historyDays: 20 }),
    clock,
  );
}

export class KalshiTruth implements PlatformTruth {
  readonly platform = 'kalshi';
  readonly sim: Simulator<KalshiWorld>;
  readonly clock: StoppableClock;
  readonly world: KalshiWorld;
  readonly kinds = [...STATUSES, 'in the archive'];
  readonly unlistedLater = [];
  readonly unknownId = 'KXNOSUCH-1';
  readonly words = ['lakemont', 'Ada Reyes'];
  readonly hasBars = true;
  readonly eventStates = ['open', 'paused', 'closed', 'settled'];
  readonly faults = {
    endpoints: [/\/markets\?.*status=open/, /\/markets\?.*min_updated_ts/, /\/markets\/trades/, /\/series\?/],
    first: 0,
    rounds: 3,
  };
  readonly listing: Listing;
  readonly trades = marketTradePages(this.platform);

  constructor(sim: Simulator<KalshiWorld>, clock: StoppableClock) {
    this.sim = sim;
    this.clock = clock;
    this.world = sim.world;
    this.listing = {
      url: `${sim.env['KALSHI_API_URL']}/markets?limit=1000&mve_filter=exclude&status=open`,
      rows: ({ markets = [] }) => markets,
      idOf: (row) => row['ticker'],
      spoil: (row) => void (row['ticker'] = 7),
      required: 'volume_fp',
    };
  }

  /** Combos are left out of lists. */
  listedMarkets(): SimMarket[] {
    const { exchange } = this.world;
    // Lets what is due by the world's clock happen.
    this.world.market(exchange.markets[0]!.ticker);
    return exchange.markets.filter((market) => !market.vanished && !this.#isCombo(market));
  }

  /** Combos that trade. */
  combos(): string[] {
    const traded = this.world.exchange.markets.filter(({ prints, status }) => prints.length > 0 && status === 'active');
    return traded.filter((market) => this.#isCombo(market)).map(({ ticker }) => ticker);
  }

  oneOf(wanted: (market: SimMarket) => boolean): SimMarket {
    const found = this.listedMarkets().find(wanted);
    if (!found) throw new Error('the cast lacks such a market');
    return found;
  }

  #isCombo(market: SimMarket): boolean {
    return this.world.exchange.eventOf(market).spec.combo;
  }

  #byId(ticker: string): SimMarket {
    return this.world.exchange.marketByTicker.get(ticker) as SimMarket;
  }

  listed(): string[] {
    return this.listedMarkets().map(({ ticker }) => ticker);
  }

  trading(): string[] {
    return this.listedMarkets()
      .filter(({ status }) => status === 'active')
      .toSorted((a, b) => b.prints.length - a.prints.length)
      .map(({ ticker }) => ticker);
  }

  mayBeServed(): boolean {
    return false;
  }

  wrongFields(ticker: string, row: ServedMarket | undefined): Difference[] {
    if (!row) return differences(ticker, row, {});
    const market = this.#byId(ticker);
    const syncedMs = Date.parse(row.last_synced_at);
    const truth = kalshiMarket(this.world, market, { syncedMs, worldMs: this.clock.at(syncedMs) });
    // Nobody reads a market again that does not trade: what its trades would show by now stays unknown.
    if (market.status !== 'active' && row.volume_7d === null) truth.volume_7d = null;
    // Images are read of what trades and is listed, and of what somebody asks for.
    if ((market.status !== 'active' || this.#isCombo(market)) && row.image_url === '') truth.image_url = '';
    return differences(ticker, row, { ...truth, ...besideTruth(row, truth) });
  }

  kindsOf(): string[] {
    return this.listedMarkets().flatMap((market) =>
      this.world.exchange.isArchived(market) ? [market.status, 'in the archive'] : [market.status],
    );
  }

  spellings(ticker: string): string[] {
    return [ticker, `kalshi:${ticker}`, ticker.toLowerCase()];
  }

  unlisted(): { name: string; id: string }[] {
    const combo = this.world.exchange.markets.find((market) => this.#isCombo(market) && market.status === 'active')!;
    return [{ name: combo.ticker.toLowerCase(), id: combo.ticker }];
  }

  noteAsked(): void {
    // A combo that was asked for stays out of lists.
  }

  events() {
    return kalshiEvents(this.world);
  }

  series() {
    return kalshiSeries(this.world);
  }

  event(): { id: string; market: string } {
    const { ticker, spec } = this.oneOf(({ status }) => status === 'active');
    return { id: spec.eventTicker, market: ticker };
  }

  async listedRow(ticker: string): Promise<Row> {
    const reply = await fetch(`${this.sim.env['KALSHI_API_URL']}/markets/${ticker}`);
    return ((await reply.json()) as { market: Row }).market;
  }

  fromParents(raw: Row): Partial<ServedMarket> {
    const { event, series } = raw as { event: { title: string }; series: { ticker: string } };
    return { event_name: event.title, series_id: series.ticker };
  }

  tradeIds(): string[] {
    return this.world.trades.map(({ tradeId }) => tradeId);
  }

  wrongTrades(service: Pipeline, ids: readonly string[]): Promise<Difference[]> {
    return wrongMarketTrades(service, this.platform, ids, (ticker) => kalshiTrades(this.world, ticker));
  }

  booked(): string[] {
    const still = (['closed', 'finalized'] as const).map((wanted) => this.oneOf(({ status }) => status === wanted));
    return [...this.trading().slice(0, 12), ...still.map(({ ticker }) => ticker)];
  }

  book(ticker: string) {
    return kalshiBook(this.world, ticker);
  }

  bookDates(_ticker: string, askedMs: number): [number, number] {
    return [askedMs - 2000, this.clock.service.now()];
  }

  history({ id, fromTs, toTs }: Span, stepMin: number): ServedPoint[] {
    return kalshiHistory(this.world, id, stepMin, fromTs, toTs);
  }

  /** Up to the present, or to the end of the day on which the market closed. */
  charts(stepMin: number): Span[] {
    const traded = this.listedMarkets().filter(({ prints }) => prints.length > 0);
    const wanted = [
      ...traded.filter(({ status }) => status === 'active').slice(0, 2),
      traded.find((market) => this.world.exchange.isArchived(market))!,
      traded.find(({ status }) => status === 'finalized')!,
    ];
    const nowTs = Math.floor(this.clock.now() / 1000);
    return wanted.map(({ ticker, closeMs }) => {
      const toTs = Math.min(nowTs + 1, Math.ceil(closeMs / 1000 / DAY) * DAY);
      return { id: ticker, fromTs: Math.floor(toTs / DAY) * DAY - (stepMin === 1 ? 1 : 12) * DAY, toTs };
    });
  }

  mergedCharts(stepMin: number): Span[] {
    const [days, wanted] = stepMin < 60 ? [1, 8] : [12, 12];
    const traded = this.listedMarkets().filter(({ prints }) => prints.length > 0);
    return traded.slice(0, wanted).map(({ ticker, closeMs }) => {
      const toTs = Math.floor(Math.min(this.clock.now(), closeMs) / 1000 / DAY) * DAY;
      return { id: ticker, fromTs: toTs - days * DAY, toTs };
    });
  }

  changeSome() {
    const { world } = this;
    const active = this.listedMarkets().filter(({ status }) => status === 'active');
    const [paused, closed, reopened, yes, no, split, contested] = active.map(({ ticker }) => ticker) as [
      string,
      ...string[],
    ];
    world.pause(paused);
    world.close(closed!);
    world.close(reopened!);
    world.reopen(reopened!, this.clock.service.now() + 86_400_000);
    world.settle(yes!, 'yes');
    world.settle(no!, 'no');
    world.settle(split!, 'scalar', '0.3700');
    world.close(contested!);
    world.contest(contested!, 'disputed');
    world.createMarket('weather');
    world.moveCutoff(this.clock.service.now() - 4 * 86_400_000);
    return [
      { id: yes!, prices: [1, 0] },
      { id: no!, prices: [0, 1] },
      { id: split!, prices: [0.37, 0.63] },
    ];
  }

  setDown(down: boolean): void {
    this.world.setExchange({ down });
  }
}
