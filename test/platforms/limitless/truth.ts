import type { Clock } from '../../../src/core/time.ts';
import { StoppableClock } from '../../oracle/clock.ts';
import { limitlessEvents, limitlessSeries } from '../../oracle/events.ts';
import {
  limitlessBook,
  limitlessHistory,
  limitlessMarket,
  limitlessTrades,
  listedMarkets,
  type ServedWhale,
} from '../../oracle/limitless.ts';
import {
  besideTruth,
  largePage,
  type Page,
  type Pipeline,
  type ServedMarket,
  type ServedPoint,
} from '../../oracle/pipeline.ts';
import { type Difference, differences } from '../../oracle/vocabulary.ts';
import { startLimitless } from '../../simulators/limitless.ts';
import type { ClobMarket, Market } from '../../simulators/limitless/model.ts';
import type { LimitlessWorld } from '../../simulators/limitless/world.ts';
import type { Simulator } from '../../simulators/simulator.ts';
import type { Listing, PlatformTruth, Row, Span } from '../contract/truth.ts';

const DAY = 86_400;

export async function startLimitlessTruth(service?: Clock): Promise<LimitlessTruth> {
  const clock = new StoppableClock(service);
  const sim = await startLimitless({ seed: 21, clock, markets: 1, tradesPerMarket: 40, historyDays: 12 });
  return new LimitlessTruth(sim, clock);
}

const byId = (a: ServedWhale, b: ServedWhale): number => (a.trade_id < b.trade_id ? -1 : 1);

/** Trades of Limitless as they are served among the whales, newest first. */
async function whales(service: Pipeline, query: string, limit: number, between: () => unknown = () => {}) {
  const rows: ServedWhale[] = [];
  const pages: Page[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const path = `trades/whales?platform=limitless&min_size=0${query}&limit=${limit}&cursor=${cursor}`;
    const body: { trades: ServedWhale[]; pagination: Page } = await service.get(path);
    rows.push(...body.trades);
    pages.push(body.pagination);
    cursor = body.pagination.next_cursor;
    if (cursor !== null) await between();
  }
  return { rows, pages };
}

export class LimitlessTruth implements PlatformTruth {
  readonly platform = 'limitless';
  readonly sim: Simulator<LimitlessWorld>;
  readonly clock: StoppableClock;
  readonly world: LimitlessWorld;
  readonly kinds = ['order book', 'child of a group', 'pool'];
  /** What trades show comes when they have been read. */
  readonly unlistedLater = ['unique_traders', 'metadata', 'volume_24h', 'volume_7d'];
  readonly unknownId = 'no-such-market-1790000000000';
  readonly words = ['up down', 'satellites orbit', 'party lead'];
  readonly hasBars = false;
  readonly eventStates = ['open'];
  readonly faults = {
    endpoints: [/\/markets\/active\?/, /\/markets\/[^/]+\/events/, /\/markets\/[\w-]+$/],
    first: 5,
    rounds: 2,
  };
  readonly listing: Listing;
  /** What the service can know: every market that was ever listed while it ran. */
  readonly known = new Set<Market>();
  /** Those that were over before they were asked for. */
  readonly #past = new Set<Market>();
  readonly #startedMs: number;

  constructor(sim: Simulator<LimitlessWorld>, clock: StoppableClock) {
    this.sim = sim;
    this.clock = clock;
    this.#startedMs = clock.service.now();
    this.world = sim.world;
    this.listing = {
      url: `${sim.env['LIMITLESS_API_URL']}/markets/active?page=1&limit=25&sortBy=newest`,
      rows: ({ data = [] }) => data.flatMap((row) => (row['markets'] as Row[] | undefined) ?? [row]),
      idOf: (row) => row['slug'],
      spoil: (row) => void (row['title'] = 7),
      required: 'title',
    };
  }

  /** Order-book markets whose trades the service reads. */
  clobs(): ClobMarket[] {
    return [...this.known, ...this.#past].filter((market) => market.kind === 'clob');
  }

  tradingMarkets(): ClobMarket[] {
    return listedMarkets(this.world)
      .filter((market) => market.kind === 'clob')
      .filter(({ status, series, popularity }) => status === 'FUNDED' && series === null && popularity > 0)
      .toSorted((a, b) => b.trades.length - a.trades.length);
  }

  #bySlug(slug: string): Market {
    const found = [...this.known, ...this.#past, ...this.world.markets.values()].find((market) => market.slug === slug);
    if (!found) throw new Error(`the world has no market ${slug}`);
    return found;
  }

  listed(): string[] {
    for (const market of listedMarkets(this.world)) this.known.add(market);
    return [...this.known].map(({ slug }) => slug);
  }

  trading(): string[] {
    return this.tradingMarkets().map(({ slug }) => slug);
  }

  mayBeServed(row: ServedMarket): boolean {
    return [...this.#past].some(({ slug }) => slug === row.platform_id);
  }

  wrongFields(slug: string, row: ServedMarket | undefined): Difference[] {
    if (!row) return differences(slug, row, {});
    const syncedMs = Date.parse(row.last_synced_at);
    const truth = limitlessMarket(this.world, this.#bySlug(slug), { syncedMs, worldMs: this.clock.at(syncedMs) });
    return differences(slug, row, { ...truth, ...besideTruth(row, truth) });
  }

  kindsOf(): string[] {
    return [...this.known].map((market) =>
      market.kind === 'amm' ? 'pool' : market.group ? 'child of a group' : 'order book',
    );
  }

  spellings(slug: string): string[] {
    return [slug, `limitless:${slug}`];
  }

  unlisted(): { name: string; id: string }[] {
    return [...this.world.markets.values()]
      .filter((market) => !this.known.has(market) && market.status === 'RESOLVED')
      .slice(0, 3)
      .map(({ slug }) => ({ name: slug, id: slug }));
  }

  noteAsked(slug: string): void {
    this.#past.add(this.#bySlug(slug));
  }

  events() {
    return limitlessEvents(this.world);
  }

  series() {
    return limitlessSeries(this.world);
  }

  event(): { id: string; market: string } {
    const [group] = this.world.groups.values();
    return { id: group!.slug, market: group!.children[0]!.slug };
  }

  async listedRow(slug: string): Promise<Row> {
    for (let page = 1; page < 20; page += 1) {
      const url = this.listing.url.replace('page=1', `page=${page}`);
      const body = (await (await fetch(url)).json()) as Record<string, Row[]>;
      const found = this.listing.rows(body).find((row) => this.listing.idOf(row) === slug);
      if (found) return found;
    }
    throw new Error(`${slug} is not listed`);
  }

  fromParents(raw: Row): Partial<ServedMarket> {
    const { group } = raw as { group?: { slug: string; title: string } };
    return { event_id: group?.slug ?? '', event_name: group?.title ?? '' };
  }

  tradeIds(): string[] {
    return this.clobs().flatMap((market) => limitlessTrades(this.world, market).map(({ trade_id: id }) => id));
  }

  /** Always of all markets: that is one list. */
  async wrongTrades(service: Pipeline): Promise<Difference[]> {
    this.listed();
    const served = (await whales(service, '', 200 - (largePage() % 50))).rows.toSorted(byId);
    const truth = this.clobs()
      .flatMap((market) => limitlessTrades(this.world, market))
      .toSorted(byId);
    if (served.length !== truth.length) {
      const ids = new Set(served.map(({ trade_id: id }) => id));
      const missing = truth.filter(({ trade_id: id }) => !ids.has(id)).map(({ market_id: id }) => id);
      return [{ id: 'all', field: 'count', served: served.length, expected: [truth.length, ...missing] }];
    }
    return truth.flatMap((trade, at) => differences(trade.trade_id, served[at], trade));
  }

  async trades(service: Pipeline, { id, limit, between }: { id: string; limit: number; between?: () => unknown }) {
    const { rows, pages } = await whales(service, `&market_id=${id}`, limit, between);
    return { ids: rows.map((row) => row.trade_id), pages };
  }

  booked(): string[] {
    const pool = [...this.known].find(({ kind }) => kind === 'amm')!;
    const settled = [...this.known, ...this.#past].find(({ status }) => status === 'RESOLVED')!;
    return [...listedMarkets(this.world).slice(0, 8), pool, settled].map(({ slug }) => slug);
  }

  book(slug: string) {
    return limitlessBook(this.#bySlug(slug), this.clock.now());
  }

  bookDates(_slug: string, askedMs: number): [number, number] {
    return [askedMs - 5000, this.clock.service.now()];
  }

  history({ id, fromTs, toTs }: Span, stepMin: number): ServedPoint[] {
    return limitlessHistory(this.world, this.#bySlug(id) as ClobMarket, { fromTs, toTs, stepMin });
  }

  /** Up to the start of the service: from then on it adds quotes. */
  charts(stepMin: number): Span[] {
    const toTs = Math.floor(this.#startedMs / (stepMin * 60_000)) * stepMin * 60;
    return this.#busiest(2).map(({ slug }) => ({ id: slug, fromTs: toTs - (stepMin === 1 ? 2 : 12) * DAY, toTs }));
  }

  mergedCharts(): Span[] {
    const toTs = Math.floor(this.#startedMs / 1000 / DAY) * DAY;
    return this.#busiest(3).map(({ slug }) => ({ id: slug, fromTs: toTs - 12 * DAY, toTs }));
  }

  #busiest(count: number): ClobMarket[] {
    return this.clobs()
      .filter(({ series }) => series === null)
      .toSorted((a, b) => b.trades.length - a.trades.length)
      .slice(0, count);
  }

  changeSome() {
    const { world } = this;
    const funded = listedMarkets(world)
      .filter((market) => market.kind === 'clob')
      .filter(({ series, status, group }) => !series && status === 'FUNDED' && group === null);
    const slugs = (type: string) => funded.filter((one) => one.automationType === type).map(({ slug }) => slug);
    const [locked, expired, announced, yes, split] = slugs('manual') as [string, ...string[]];
    const [no, unsaid] = slugs('sports');
    world.lock(locked);
    world.expire(expired!);
    world.expire(announced!);
    world.announce(announced!, 1);
    world.resolve(yes!, 0);
    world.resolve(no!, 1);
    world.resolve(split!, 'split');
    world.resolve(unsaid!, 'split');
    world.addChild([...world.groups.keys()][0]!, 'Somebody else');
    return [
      { id: yes!, prices: [1, 0] },
      { id: no!, prices: [0, 1] },
      { id: split!, prices: [0.5, 0.5] },
      { id: unsaid!, prices: [null, null] },
    ];
  }

  setDown(down: boolean): void {
    if (down) this.sim.inject({ match: /./, times: Infinity, kind: 'status', status: 503, body: 'down' });
    else this.sim.clearFaults();
  }
}
