import type { OutcomeIndex, SimMarket, SimTrade, SimWallet, WireSide } from '../world/model.ts';
import { outcomeOf, sideOf, type TapeFill } from '../world/tape.ts';
import { usdOf } from '../world/units.ts';
import type { PolymarketWorld } from '../world/world.ts';

/** One row of the Data API's trade feeds: a taker's whole trade, or one maker's part of it. */
export interface FeedRow {
  /** Position of its trade in the tape. */
  index: number;
  taker: boolean;
  /** A bet on several markets at once, which the feeds mix in: the market given is one of its legs. */
  combo: boolean;
  timestamp: number;
  market: SimMarket;
  wallet: SimWallet;
  outcome: OutcomeIndex;
  side: WireSide;
  price: bigint;
  size: bigint;
  transactionHash: string;
}

export interface FeedFilter {
  takerOnly: boolean;
  /** Whether combos are mixed in: 8 of 1,000. */
  combos?: boolean;
  /** Only trades older than this position; undefined = from the newest. */
  below?: number;
  markets?: readonly SimMarket[];
  wallet?: SimWallet;
  side?: WireSide;
  /** Least size, in shares or in USD. */
  least?: { of: 'TOKENS' | 'CASH'; amount: bigint };
  /** Unix seconds, both included. */
  from?: number;
  to?: number;
}

/** Rows the indexer shows at present, newest trade first; within a trade the taker, then the makers. */
export function* feed(world: PolymarketWorld, filter: FeedFilter): Generator<FeedRow> {
  const nowMs = world.now();
  const { tape } = world.ledger;
  for (const index of candidates(world, filter)) {
    if (tape.visibleMs(index) > nowMs) continue;
    const timestamp = tape.timestamp(index);
    if (filter.to !== undefined && timestamp > filter.to) continue;
    if (filter.from !== undefined && timestamp < filter.from) return;
    for (const row of rowsOf(world, index, filter)) {
      if (filter.wallet && row.wallet !== filter.wallet) continue;
      if (filter.side && row.side !== filter.side) continue;
      if (filter.least && amountOf(row, filter.least.of) < filter.least.amount) continue;
      yield row;
    }
  }
}

const amountOf = (row: FeedRow, of: 'TOKENS' | 'CASH'): bigint =>
  of === 'TOKENS' ? row.size : usdOf(row.price, row.size);

/** Positions that may match, newest first. */
function* candidates(world: PolymarketWorld, filter: FeedFilter): Generator<number> {
  const { tape } = world.ledger;
  const below = filter.below ?? tape.count;
  if (filter.markets) {
    const indices = filter.markets.flatMap((market) => world.tradesOf(market));
    if (filter.markets.length > 1) indices.sort((a, b) => a - b);
    for (let i = indices.length - 1; i >= 0; i--) if ((indices[i] as number) < below) yield indices[i] as number;
    return;
  }
  for (let index = tape.rows.before(below); index >= 0; index = tape.rows.before(index)) {
    if (!filter.wallet || takesPart(world, index, filter.wallet.index)) yield index;
  }
}

function takesPart(world: PolymarketWorld, index: number, wallet: number): boolean {
  const { tape } = world.ledger;
  if (tape.wallet(index) === wallet) return true;
  for (let part = tape.firstFill(index); part < tape.endFill(index); part++)
    if (tape.fillWallet(part) === wallet) return true;
  return false;
}

/** A trade's rows. */
export function rowsOf(world: PolymarketWorld, index: number, { takerOnly, combos }: FeedFilter): FeedRow[] {
  const { tape } = world.ledger;
  const { timestamp, transaction, ...row } = tape.row(index);
  const market = world.catalog.marketAt(row.market);
  const rowOf = (part: TapeFill, taker: boolean): FeedRow => ({
    index,
    taker,
    combo: false,
    timestamp,
    market,
    wallet: world.wallet(part.wallet),
    outcome: outcomeOf(part.form),
    side: sideOf(part.form),
    price: part.price,
    size: part.size,
    get transactionHash() {
      return world.ids.hex('tx', transaction);
    },
  });
  const taken = rowOf(row, true);
  const makers = takerOnly ? [] : tape.fills(index).map((fill) => rowOf(fill, false));
  if (!combos || index % 125 !== 60) return [taken, ...makers];
  return [{ ...taken, combo: true, transactionHash: world.ids.hex('combo', index) }, taken, ...makers];
}

/** Whether the trade is known to the indexer yet, as far as a reader can see. */
export const isLabelled = (world: PolymarketWorld, trade: Pick<SimTrade, 'index' | 'timestamp'>): boolean =>
  trade.index % 3 !== 0 || world.now() - trade.timestamp * 1000 >= world.indexer.labelMs;
