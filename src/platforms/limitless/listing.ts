import { z } from 'zod';
import { PlatformError } from '../../core/errors.ts';
import type { JsonObject, MarketRecord } from '../../core/model.ts';
import { isoTime } from '../market-fields.ts';
import type { ReadContext, SweepPage, SweepScope } from '../contract.ts';
import { Cache } from '../../core/cache.ts';
import {
  type ParsedRow,
  isNotFound,
  isItemError,
  nullIfStatedAbsent,
  parseBody,
  parseRow,
  parseRows,
  recentRows,
} from '../parse-rows.ts';
import { ItemReader } from '../read-items.ts';
import type { LimitlessClient } from './client.ts';
import { textOf } from './event.ts';
import { ofPool } from './pool-names.ts';
import { isKnownStatus, mapLimitlessMarket, mayLackResult } from './market.ts';
import { lacksStrike } from './strike.ts';
import {
  GROUP_ROW,
  LimitlessGroup,
  LimitlessListing as ListingPage,
  LimitlessMarket,
  LimitlessSlugs,
  MARKET_ROW,
} from './wire.ts';
import { partsOf } from '../../core/parts.ts';

/** 26 is rejected instead of clamped. */
const PAGE_LIMIT = 25;
/** Pages in a row without a new row that end a pass, whatever the platform counts; and the pages of a pass at most. */
const SAME_PAGES = 3;
const MAX_PAGES = 2000;
/** A listing that does not become stable is left to the next sweep. */
const MAX_PASSES = 5;
const GROUPS_KEPT = 10_000;
const POOLS_KEPT = 10_000;
const STRIKES_KEPT = 50_000;
const about = { platform: 'limitless' } as const;

const idOf = (row: JsonObject): string =>
  String(typeof row.id === 'number' || typeof row.id === 'string' ? row.id : row.slug);
const createdAt = (row: JsonObject): string | null => isoTime(textOf(row, 'createdAt'));

interface Pass {
  rows: JsonObject[];
  /** How many rows the platform counts; null if it does not say. */
  total: number | null;
  receivedAt: string;
}

interface Detail {
  raw: JsonObject;
  receivedAt: string;
}

/** The listing of tradable markets, where a group is one row with its markets nested, and single markets by slug. */
export class LimitlessListing {
  readonly #client: LimitlessClient;
  /** Of pools, by slug. */
  readonly #addresses = new Cache<string, string>({ limit: POOLS_KEPT });
  readonly #groups = new Cache<string, ParsedRow<LimitlessGroup>>({ limit: GROUPS_KEPT });
  /** By slug, as the list of slugs has them. */
  readonly #strikes = new Cache<string, string>({ limit: STRIKES_KEPT });
  /** Whether a row since the last read of that list lacks its strike. */
  #wantsStrikes = false;
  readonly #marketReader: ItemReader<Detail>;
  readonly #groupReader: ItemReader<Detail>;

  constructor(client: LimitlessClient) {
    this.#client = client;
    const read = async ([slug = '']: readonly string[], context: ReadContext) => {
      const detail = await this.#detail(slug, context);
      return detail ? [detail] : [];
    };
    this.#marketReader = new ItemReader({ ...about, kind: 'market', groupSize: 1, read });
    this.#groupReader = new ItemReader({ ...about, kind: 'event', groupSize: 1, read });
  }

  async *sweep(scope: SweepScope, context: ReadContext): AsyncGenerator<SweepPage> {
    // Expired and resolved markets are never listed, but can be read by slug.
    if (scope.kind === 'historical') return;
    yield* this.#page(await this.#groupReader.readLeftOut(context), context);
    switch (scope.kind) {
      case 'full':
        yield* this.#untilStable(context);
        break;
      case 'open':
        if (this.#wantsStrikes) await this.#listedSlugs(context);
        yield* this.#newRows(new Set(), context);
        break;
      case 'changed':
        yield* this.#createdSince(scope.sinceMs, context);
        break;
    }
    yield* this.#page(await this.#marketReader.readLeftOut(context), context);
  }

  /** Any market, past or present, by slug or AMM address; null if unknown, and for a group, which is an event. */
  async market(slug: string, context: ReadContext): Promise<MarketRecord | null> {
    const detail = await this.#detail(slug, context);
    if (!detail || Array.isArray(detail.raw.markets)) return null;
    const record = await this.#single(detail, context);
    if (!record) throw new PlatformError('limitless', 'bad_answer', { detail: `/markets/${slug}: not a market` });
    return record;
  }

  /** Offsets shift while rows come and go: the listing is complete when a pass finds nothing new and the count is unchanged. */
  async *#untilStable(context: ReadContext): AsyncGenerator<SweepPage> {
    // Before the rows, which are stored with their strikes.
    const listed = await this.#listedSlugs(context);
    const seen = new Set<string>();
    const slugs = new Set<string>();
    let previousTotal: number | null = -1;
    for (let pass = 1; pass <= MAX_PASSES; pass += 1) {
      const known = seen.size;
      let total: number | null = null;
      for await (const page of this.#newRows(seen, context)) {
        total = page.total;
        for (const { info } of page.markets) slugs.add(info.ref);
        yield page;
      }
      if (seen.size === known && total === previousTotal) break;
      previousTotal = total;
    }
    const missed = listed.filter((slug) => !slugs.has(slug));
    for (const part of partsOf(missed, PAGE_LIMIT)) {
      const details = await this.#marketReader.readAll(part, context);
      yield* this.#page(details, context);
    }
  }

  /** Rows that were read by slug; a group brings its markets. */
  async *#page(details: readonly Detail[], context: ReadContext): AsyncGenerator<SweepPage> {
    const markets: MarketRecord[] = [];
    for (const detail of details) {
      if (Array.isArray(detail.raw.markets)) markets.push(...this.#records([detail.raw], detail.receivedAt, context));
      else markets.push(...[await this.#single(detail, context)].filter((record) => record !== null));
    }
    if (markets.length > 0) yield { markets };
  }

  /** One pass over the listing; rows with ids in `seen` are skipped, and new ids are added to it. */
  async *#newRows(seen: Set<string>, context: ReadContext): AsyncGenerator<SweepPage & Pick<Pass, 'total'>> {
    for await (const page of this.#pass(context)) {
      const rows = page.rows.filter((row) => {
        const id = idOf(row);
        return !seen.has(id) && seen.add(id);
      });
      const markets = this.#records(rows, page.receivedAt, context);
      yield { markets, total: page.total };
    }
  }

  async *#createdSince(sinceMs: number, context: ReadContext): AsyncGenerator<SweepPage> {
    const split = recentRows(createdAt, sinceMs);
    for await (const page of this.#pass(context)) {
      const { recent, goesOn } = split(page.rows, page.rows.length);
      yield { markets: this.#records(recent, page.receivedAt, context) };
      if (!goesOn) return;
    }
  }

  /** The pages of the listing. A full page is followed by another one; a short page ends the listing unless the count is larger. */
  async *#pass(context: ReadContext): AsyncGenerator<Pass> {
    const seen = new Set<string>();
    let same = 0;
    for (let page = 1; page <= MAX_PAGES && same < SAME_PAGES; page += 1) {
      const reply = await this.#client.get('/markets/active', { page, limit: PAGE_LIMIT, sortBy: 'newest' }, context);
      const { data, totalMarketsCount } = parseBody('limitless', ListingPage, reply);
      const total = this.#total(totalMarketsCount, context);
      const rows = data.filter((row): row is JsonObject => typeof row === 'object' && row !== null);
      const known = seen.size;
      for (const row of rows) seen.add(idOf(row));
      same = seen.size > known ? 0 : same + 1;
      yield { rows, total, receivedAt: reply.receivedAt };
      const isCounted = total === null || page * PAGE_LIMIT >= total;
      if (isCounted && (data.length < PAGE_LIMIT || same > 0)) return;
    }
  }

  #total(count: unknown, context: ReadContext): number | null {
    if (typeof count === 'number' && Number.isInteger(count) && count >= 0) return count;
    const reason = `not a count: ${JSON.stringify(count)?.slice(0, 40)}`;
    context.onBadRow({ ...about, kind: 'market', id: '', field: 'totalMarketsCount', reason });
    return null;
  }

  #records(listed: readonly JsonObject[], receivedAt: string, context: ReadContext): MarketRecord[] {
    return listed.flatMap((raw) => {
      const isGroup = Array.isArray(raw.markets) || raw.marketType === 'group';
      // Markets of an unreadable group are stored without it.
      const group = isGroup ? this.#keepGroup(raw, context) : null;
      const rows = isGroup ? (Array.isArray(raw.markets) ? raw.markets : []) : [raw];
      const markets = parseRows(LimitlessMarket, rows, MARKET_ROW, context);
      // What is missing in the list is read alone, with its result.
      const whole = markets.filter(({ row }) => !mayLackResult(row));
      return whole.map((market) => this.#record(market, group, receivedAt, context));
    });
  }

  #record(
    market: ParsedRow<LimitlessMarket>,
    group: ParsedRow<LimitlessGroup> | null,
    receivedAt: string,
    context: ReadContext,
  ): MarketRecord {
    const { slug, status, address } = market.row;
    if (address) this.#addresses.set(slug, address);
    if (!isKnownStatus(status)) {
      const reason = `status: unknown word ${JSON.stringify(status.slice(0, 40))}, read as closed`;
      context.onBadRow({ ...about, kind: 'market', id: slug, reason });
    }
    const strike = this.#strikes.get(slug);
    this.#wantsStrikes ||= strike === undefined && lacksStrike(market.row);
    return mapLimitlessMarket(market, group, receivedAt, strike);
  }

  /** A market read by slug contains the slug of its group, not the group's title. Without a readable group it is stored alone. */
  async #single({ raw, receivedAt }: Detail, context: ReadContext): Promise<MarketRecord | null> {
    const market = parseRow(LimitlessMarket, raw, MARKET_ROW, context);
    if (!market) return null;
    const groupSlug = market.row.groupSlug || market.row.metadata?.groupSlug;
    const group = groupSlug ? await this.#group(groupSlug, context) : null;
    return this.#record(market, group, receivedAt, context);
  }

  #keepGroup(raw: JsonObject, context: ReadContext): ParsedRow<LimitlessGroup> | null {
    const group = parseRow(LimitlessGroup, raw, GROUP_ROW, context);
    if (group) this.#groups.set(group.row.slug, group);
    return group;
  }

  async #group(slug: string, context: ReadContext): Promise<ParsedRow<LimitlessGroup> | null> {
    const known = this.#groups.get(slug);
    if (known) return known;
    const [detail] = await this.#groupReader.readAll([slug], context);
    return detail && Array.isArray(detail.raw.markets) ? this.#keepGroup(detail.raw, context) : null;
  }

  async #detail(slug: string, context: ReadContext): Promise<Detail | null> {
    const read = (name: string) =>
      this.#client.get(`/markets/${encodeURIComponent(name)}`, {}, context).catch(nullIfStatedAbsent);
    const reply = await ofPool(slug, this.#addresses.get(slug), read);
    return reply && { raw: parseBody('limitless', z.looseObject({}), reply), receivedAt: reply.receivedAt };
  }

  /** Slugs of all listed markets in one unpaged reply, whose strikes are kept; [] if the endpoint is removed or fails. */
  async #listedSlugs(context: ReadContext): Promise<string[]> {
    this.#wantsStrikes = false;
    try {
      const rows = parseBody('limitless', LimitlessSlugs, await this.#client.get('/markets/active/slugs', {}, context));
      const listed = rows.flatMap((row) => (row?.markets?.length ? row.markets : [row]));
      for (const row of listed) if (row?.strikePrice) this.#strikes.set(row.slug, row.strikePrice);
      return listed.flatMap((row) => row?.slug ?? []);
    } catch (error) {
      if (isNotFound(error)) return [];
      if (!isItemError(error)) throw error;
      const reason = `the list of slugs could not be read: ${error.message} ${error.detail}`;
      context.onBadRow({ ...about, kind: 'market', id: '', reason });
      return [];
    }
  }
}
