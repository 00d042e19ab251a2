import { z } from 'zod';
import {
  decimalNumber,
  divideHalfEven,
  parsePrice,
  parseSize,
  SIZE_SCALE,
  type Usd,
  USD_SCALE,
} from '../../core/decimal.ts';
import { ApiError, PlatformError, toApiError } from '../../core/errors.ts';
import { matchId, matchKey } from '../../core/market-key.ts';
import type { PresentMarkets } from '../../markets/present-markets.ts';
import { type Gap, gapOf, type Offer, type Reach } from '../../matching/gap.ts';
import { mappingOf } from '../../matching/judge.ts';
import type { ReadContext } from '../../platforms/contract.ts';
import { MANIFESTS } from '../../platforms/manifests.ts';
import type { GapAnswer } from '../../schemas/matches.ts';
import type { MatchFilter } from '../../present/read-matches.ts';
import { type FoundMatch, newestMatches } from './pairs.ts';
import type { Market, Reading } from '../markets-by-key.ts';
import { type BookAnswer, liveBook } from '../order-book.ts';

/** Books that are older have no gap. */
const OLDEST_MS = 5000;
/** A book of the cache is this old at most. */
const CACHED_MS = 1000;
/** Relations of pairs that have a gap. */
export const PAIRED = ['identical', 'complement'] as const;
type Paired = (typeof PAIRED)[number];

type Source = Parameters<typeof liveBook>[0] & { markets: Pick<PresentMarkets, 'storedByAnyIds'> };

/** A book that was read at `asOfMs` or later. */
interface DatedBook {
  book: BookAnswer;
  asOfMs: number;
}

/** An outcome of each market, exactly one of which pays. */
type Positions = readonly [a: 0 | 1, b: 0 | 1];

/** The two ways to hold both sides of a pair. */
function positionsOf(relation: Paired): readonly Positions[] {
  return mappingOf(relation).map(([a, b]) => [a === 0 ? 0 : 1, b === 0 ? 1 : 0]);
}

const offerOf = (market: Market, { yes, no }: BookAnswer, position: 0 | 1): Offer => ({
  asks: (position === 0 ? yes : no).asks.map(({ price, size }) => ({
    price: parsePrice(price),
    size: parseSize(size),
  })),
  feeOf: (price, size) => MANIFESTS[market.platform].fillFee(market.metadata, price, size, 'buy'),
});

/** The gap with the larger edge of the two ways; null if the books of neither way offer anything, or a fee is unknown. */
export function bestGap(
  relation: Paired,
  [a, b]: readonly [Market, Market],
  [bookA, bookB]: readonly [BookAnswer, BookAnswer],
  reach: Reach,
): { gap: Gap; positions: Positions } | null {
  const found = positionsOf(relation).flatMap((positions) => {
    const gap = gapOf(offerOf(a, bookA, positions[0]), offerOf(b, bookB, positions[1]), reach);
    return gap ? [{ gap, positions }] : [];
  });
  return found.toSorted((one, other) => compare(other.gap, one.gap))[0] ?? null;
}

/** The edge of one contract of each outcome. */
const edgeOf = ({ edge, size }: Gap): Usd => divideHalfEven(edge * 10n ** BigInt(SIZE_SCALE), size);

/** Compares edges of one contract, because the two ways may have different sizes. */
function compare(one: Gap, other: Gap): number {
  const difference = one.edge * other.size - other.edge * one.size;
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

const isPaired = ({ relation }: { relation: string }): boolean => PAIRED.some((one) => one === relation);

/** Pairs whose stored quotes are compared. */
const COMPARED = 500;

export type GapFound = z.infer<typeof GapAnswer>;

/** Which gaps a user asks for. */
export interface GapsAsked {
  user: string;
  filter: MatchFilter;
  reach: Reach;
  /** Most pairs whose books are read. */
  limit: number;
}

/** The pairs that further pages read, in the order of the first page: their keys, eight bytes each, in base64url. */
export const GapPosition = z.object({ left: z.string(), total: z.int() });
type GapPosition = z.infer<typeof GapPosition>;

const KEY_BYTES = 8;
const packed = (ids: readonly string[]): string => Buffer.from(ids.join(''), 'hex').toString('base64url');
function unpacked(text: string): string[] {
  const bytes = Buffer.from(text, 'base64url');
  return Array.from({ length: bytes.length / KEY_BYTES }, (_, n) =>
    matchId(String(bytes.readBigUInt64BE(n * KEY_BYTES))),
  );
}

/**
 * A page of gaps of open markets. The first page takes the newest pairs that the filter chooses, those first whose stored quotes promise
 * the largest edge; later pages keep this order, without the pairs that are no longer open or chosen.
 */
export async function gapPage(
  source: Source & Reading,
  asked: GapsAsked,
  after: GapPosition | null,
  context: ReadContext,
): Promise<{ gaps: GapFound[]; total: number; next: GapPosition | null }> {
  const { user, filter, reach, limit } = asked;
  const found = after ? [] : await promisingPairs(source, asked);
  const ids = after ? unpacked(after.left) : found.map(({ match }) => match.id);
  const own = ids.slice(0, limit);
  const keys = own.flatMap((id) => matchKey(id) ?? []);
  const read = after ? await openPairs(source, user, { ...filter, ids: keys }, limit) : found;
  const byId = new Map(read.map((pair) => [pair.match.id, pair]));
  const pairs = own.flatMap((id) => byId.get(id) ?? []);
  const total = after?.total ?? ids.length;
  const next = ids.length > limit ? { left: packed(ids.slice(limit)), total } : null;
  return { gaps: await gapsOf(source, pairs, reach, context), total, next };
}

/** The gaps of the first page, of which those come first for which `first` is true. */
export async function promisingGaps(
  source: Source & Reading,
  asked: GapsAsked,
  context: ReadContext,
  first: (id: string) => boolean,
): Promise<GapFound[]> {
  const pairs = await promisingPairs(source, asked, first);
  return gapsOf(source, pairs.slice(0, asked.limit), asked.reach, context);
}

/** The newest pairs of open markets that a filter chooses, those first whose stored quotes promise the largest edge. */
async function promisingPairs(
  source: Reading,
  { user, filter }: GapsAsked,
  first: (id: string) => boolean = () => false,
): Promise<FoundMatch[]> {
  const open = await openPairs(source, user, filter, COMPARED);
  const rank = ({ match }: FoundMatch): number => Number(first(match.id));
  return open.toSorted((one, other) => rank(other) - rank(one) || promise(other) - promise(one));
}

async function openPairs(source: Reading, user: string, filter: MatchFilter, limit: number): Promise<FoundMatch[]> {
  const matches = await newestMatches(source, user, { relations: PAIRED, ...filter }, limit);
  return matches.filter(({ a, b }) => a.status === 'open' && b.status === 'open');
}

/** The gaps of the identical and complementary pairs among these matches, by their books, which are read now. */
export async function gapsOf(
  source: Source,
  matches: readonly FoundMatch[],
  reach: Reach,
  context: ReadContext,
): Promise<GapFound[]> {
  return Promise.all(
    matches.filter(({ match }) => isPaired(match)).map((found) => gapAnswer(source, found, reach, context)),
  );
}

async function gapAnswer(
  source: Source,
  { match, a, b }: FoundMatch,
  reach: Reach,
  context: ReadContext,
): Promise<GapFound> {
  const relation: Paired = match.relation === 'identical' ? 'identical' : 'complement';
  const [one, other] = await Promise.all([datedBook(source, a, context), datedBook(source, b, context)]);
  const whole = typeof one !== 'string' && typeof other !== 'string' ? ([one, other] as const) : null;
  const nowMs = source.clock.now();
  const old = whole?.some(({ asOfMs }) => nowMs - asOfMs > OLDEST_MS) === true;
  const found = whole && !old ? bestGap(relation, [a, b], [whole[0].book, whole[1].book], reach) : null;
  const legOf = (market: Market, book: DatedBook | string, at: 0 | 1) => ({
    id: market.id,
    platform: market.platform,
    platform_id: market.platform_id,
    title: market.title,
    outcome: found ? (market.outcomes[found.positions[at]]?.id ?? null) : null,
    as_of: typeof book === 'string' ? null : new Date(book.asOfMs).toISOString(),
    cost_usd: found ? decimalNumber(found.gap.legs[at].cost, USD_SCALE) : null,
    fee_usd: found ? decimalNumber(found.gap.legs[at].fee, USD_SCALE) : null,
  });
  const failure = [one, other].find((book) => typeof book === 'string');
  return {
    id: match.id,
    match_id: match.id,
    relation,
    mapping: match.mapping,
    reasons: match.reasons,
    rules_version: match.rules_version,
    checked_at: match.checked_at,
    verdict_by: match.verdict.by,
    a: legOf(a, one, 0),
    b: legOf(b, other, 1),
    as_of: whole ? new Date(Math.min(whole[0].asOfMs, whole[1].asOfMs)).toISOString() : null,
    size: found ? decimalNumber(found.gap.size, SIZE_SCALE) : null,
    is_whole: found?.gap.isWhole ?? null,
    fees_usd: found ? decimalNumber(found.gap.legs[0].fee + found.gap.legs[1].fee, USD_SCALE) : null,
    locked_usd: found ? decimalNumber(found.gap.locked, USD_SCALE) : null,
    locked_until: later(endOf(a), endOf(b)),
    edge_usd: found ? decimalNumber(found.gap.edge, USD_SCALE) : null,
    edge: found ? decimalNumber(edgeOf(found.gap), USD_SCALE) : null,
    unknown_because: found
      ? null
      : (failure ?? (old ? 'A book is older than five seconds' : 'A book offers nothing, or a fee is unknown')),
  };
}

/** The book of a market, at most a second older than the call; the reason where it cannot be read. */
async function datedBook(source: Source, market: Market, context: ReadContext): Promise<DatedBook | string> {
  const { platform, platform_id: id } = market;
  const stored = (await source.markets.storedByAnyIds(platform, [id])).get(id);
  if (!stored) return 'A market is no longer stored';
  const startMs = source.clock.now();
  try {
    const { value, hit } = await liveBook(source, stored, context);
    // The missing one may be the best.
    if (value.metadata.levels_left_out !== undefined) return 'A level of a book could not be read';
    return { book: value, asOfMs: hit ? startMs - CACHED_MS : startMs };
  } catch (error) {
    if (error instanceof ApiError) return error.message;
    if (error instanceof PlatformError) return toApiError(error).message;
    throw error;
  }
}

const endOf = (market: Market): string | null => market.resolution_date ?? market.trading_end_at;
const later = (a: string | null, b: string | null): string | null => (a === null || b === null ? null : a > b ? a : b);

const asksOf = (market: Market): (number | null)[] =>
  market.outcomes.map(({ id }) => market.current_prices[id]?.ask ?? null);

/** What the stored quotes of a pair promise for one contract, without fees: the order in which books are read. */
function promise({ match, a, b }: FoundMatch): number {
  const [ofA, ofB] = [asksOf(a), asksOf(b)];
  const relation: Paired = match.relation === 'identical' ? 'identical' : 'complement';
  const sums = positionsOf(relation).flatMap(([one, other]) => {
    const [askA, askB] = [ofA[one] ?? null, ofB[other] ?? null];
    return askA === null || askB === null ? [] : [1 - askA - askB];
  });
  return Math.max(-Infinity, ...sums);
}
