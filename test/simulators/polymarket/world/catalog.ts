import { keptStates, Queue, Rows, type Rng } from '../../lib/index.ts';
import { kebab, positionIds, type Ids } from './ids.ts';
import type { SimEvent, SimMarket, SimSeries, SimTag } from './model.ts';
import { price, shares, DAY, MINUTE, ONE } from './units.ts';

export type EventSpec = Partial<Omit<SimEvent, 'markets' | 'id'>> & { title: string };
/** `mid` is where the first outcome starts; drawn when left out. */
export type MarketSpec = Partial<Omit<SimMarket, 'index' | 'id' | 'event'>> & {
  question: string;
  id?: string;
  mid?: string;
};

/** Everything that is listed, in the order of creation; ids grow with it. */
export class Catalog {
  readonly events: SimEvent[] = [];
  readonly markets: SimMarket[] = [];
  /** Markets that the world brought forth by itself, oldest first. */
  readonly passing = new Queue<SimMarket>();
  readonly tags: SimTag[] = [];
  readonly series: SimSeries[] = [];
  private readonly ids: Ids;
  private readonly rng: Rng;
  private readonly now: () => number;
  private readonly eventsById = new Map<string, SimEvent>();
  private readonly marketsById = new Map<string, SimMarket>();
  private readonly byCondition = new Map<string, SimMarket>();
  private readonly byToken = new Map<string, SimMarket>();
  private readonly slugs = { event: new Set<string>(), market: new Set<string>() };
  private readonly byIndex = new Map<number, SimMarket>();
  private bornMarkets = 0;
  private nextEventId = 30_105;
  private nextMarketId = 540_210;

  constructor(options: { ids: Ids; rng: Rng; now: () => number }) {
    this.ids = options.ids;
    this.rng = options.rng;
    this.now = options.now;
  }

  event = (id: string): SimEvent | undefined => this.eventsById.get(id);
  market = (id: string): SimMarket | undefined => this.marketsById.get(id);
  /** The market of a trade that is kept. */
  marketAt = (index: number): SimMarket => this.byIndex.get(index) as SimMarket;
  byConditionId = (condition: string): SimMarket | undefined => this.byCondition.get(condition);
  /** The market of a token, and which outcome the token is. */
  byTokenId(token: string): { market: SimMarket; outcome: 0 | 1 } | undefined {
    const market = this.byToken.get(token);
    return market && { market, outcome: market.tokenIds[0] === token ? 0 : 1 };
  }

  tag(label: string, extra: Partial<SimTag> = {}): SimTag {
    const known = this.tags.find((tag) => tag.label === label);
    if (known) return known;
    const id = String(2 + this.tags.length * 37);
    const tag: SimTag = {
      id,
      label,
      slug: kebab(label),
      publishedMs: this.tags.length % 3 ? null : 1_698_960_000_508,
      ...extra,
    };
    this.tags.push(tag);
    return tag;
  }

  seriesOf(slug: string, title: string, recurrence: string): SimSeries {
    const known = this.series.find((series) => series.slug === slug);
    if (known) return known;
    const series: SimSeries = { id: String(10_345 + this.series.length * 13), slug, title, recurrence };
    this.series.push(series);
    return series;
  }

  addEvent(spec: EventSpec): SimEvent {
    const id = String((this.nextEventId += this.rng.int(1, 9)));
    const createdMs = spec.createdMs ?? this.now() - this.rng.int(35, 300) * DAY - this.rng.int(0, 86_399_999);
    const negRisk = spec.negRisk ?? false;
    const event: SimEvent = {
      slug: this.freeSlug('event', spec.title),
      description: `Markets on: ${spec.title}`,
      resolutionSource: '',
      tags: [],
      series: null,
      sport: null,
      teams: [],
      gameId: null,
      createdMs,
      endMs: this.now() + this.rng.int(20, 400) * DAY,
      startTimeMs: null,
      negRisk,
      negRiskAugmented: false,
      negRiskMarketId: negRisk ? `${this.ids.hex('negrisk', id).slice(0, 64)}00` : '',
      archived: false,
      ...spec,
      id,
      markets: [],
    };
    this.events.push(event);
    this.eventsById.set(id, event);
    return event;
  }

  addMarket(event: SimEvent, spec: MarketSpec): SimMarket {
    const { mid, ...fields } = spec;
    const index = this.bornMarkets++;
    const id = spec.id ?? String((this.nextMarketId += this.rng.int(1, 12)));
    const createdMs = spec.createdMs ?? event.createdMs + this.rng.int(2_000, 90_000);
    const version = spec.version ?? 'v1';
    const position = this.ids.condition(event.negRisk ? 'negRisk' : 'binary', id);
    const conditionId = spec.conditionId ?? (version === 'v2' ? position : this.ids.hex('condition', id));
    const positions = positionIds(version === 'v2' ? conditionId : position);
    const tick = spec.tick ?? price('0.01');
    const last = Number(ONE / tick);
    const openMid = mid === undefined ? BigInt(this.rng.int(1, last - 2)) * tick : price(mid);
    const bidTick = Math.min(Math.max(Number(openMid / tick), 1), last - 2);
    const suffix = event.negRisk ? event.markets.length.toString(16).padStart(2, '0') : '';
    const market: SimMarket = {
      slug: this.freeSlug('market', spec.question),
      description: `This market resolves to the first outcome if: ${spec.question}\n\nOtherwise it resolves to the other one.`,
      questionId: event.negRisk ? event.negRiskMarketId.slice(0, 64) + suffix : this.ids.hex('question', id),
      outcomes: ['Yes', 'No'],
      version,
      tokenIds: version === 'v2' ? positions : [this.ids.token(conditionId, 0), this.ids.token(conditionId, 1)],
      positionIds: version === 'v2' || this.ids.small('positions', id, 100) < 35 ? positions : null,
      tick,
      minSize: shares('5'),
      fee: null,
      negRiskOther: false,
      groupItemTitle: null,
      createdMs,
      acceptingFromMs: createdMs + 10 * MINUTE,
      endMs: event.endMs,
      updatedMs: createdMs,
      eventStartMs: null,
      gameStartMs: null,
      sportsMarketType: null,
      line: null,
      secondsDelay: 0,
      takerDelay: false,
      legacy: null,
      archived: event.archived,
      state: 'open',
      autoClose: false,
      quiet: false,
      closedMs: null,
      resolvedMs: null,
      payouts: null,
      answer: null,
      uma: [],
      showsUma: true,
      acceptingWhenClosed: false,
      openMid: (BigInt(bidTick) * tick + BigInt(bidTick + 1) * tick) / 2n,
      bidTick,
      askTick: bidTick + 1,
      volume: 0n,
      sets: 0n,
      book: null,
      frozen: null,
      ...fields,
      conditionId,
      trades: new Rows(6, keptStates(MINUTE / 1000)),
      index,
      id,
      event,
    };
    this.markets.push(market);
    this.byIndex.set(index, market);
    event.markets.push(market);
    this.marketsById.set(id, market);
    if (conditionId) this.byCondition.set(conditionId, market);
    for (const token of market.tokenIds) this.byToken.set(token, market);
    return market;
  }

  /** Forgets a market, and its event with its last market. */
  forget(market: SimMarket): void {
    const { event } = market;
    this.markets.splice(this.markets.indexOf(market), 1);
    event.markets.splice(event.markets.indexOf(market), 1);
    this.byIndex.delete(market.index);
    this.marketsById.delete(market.id);
    this.byCondition.delete(market.conditionId);
    for (const token of market.tokenIds) this.byToken.delete(token);
    this.slugs.market.delete(market.slug);
    if (event.markets.length > 0) return;
    this.events.splice(this.events.indexOf(event), 1);
    this.eventsById.delete(event.id);
    this.slugs.event.delete(event.slug);
  }

  /** The slug of a text, with a number behind it when it is taken. */
  private freeSlug(kind: 'event' | 'market', text: string): string {
    const base = kebab(text);
    let slug = base;
    for (let n = 2; this.slugs[kind].has(slug); n++) slug = `${base}-${n}${this.ids.small('slug', base + n, 90) + 10}`;
    this.slugs[kind].add(slug);
    return slug;
  }
}
