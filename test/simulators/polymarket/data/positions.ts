import { divideHalfEven } from '../../../../src/core/decimal.ts';
import { feed, rowsOf, type FeedRow } from './feed.ts';
import { isClosed, type OutcomeIndex, type SimActivity, type SimMarket, type SimWallet } from '../world/model.ts';
import { currentPrice, takerFee } from '../world/stats.ts';
import { ONE, usdOf } from '../world/units.ts';
import type { PolymarketWorld } from '../world/world.ts';

/** What a wallet has (or had) of one token. Costs are exact: price × size, ×10^16. */
export interface SimPosition {
  wallet: SimWallet;
  market: SimMarket;
  outcome: OutcomeIndex;
  size: bigint;
  /** Cost of what is still held. */
  cost: bigint;
  /** Cost and number of all shares ever bought. */
  spent: bigint;
  bought: bigint;
  /** Taker fees of the purchases, USD ×10^6. */
  fees: bigint;
  /** ×10^16 */
  realized: bigint;
  /** First outcome's midpoint or payout, in this token's terms. */
  currentPrice: bigint;
  status: 'OPEN' | 'REDEEMABLE' | 'CLOSED';
  /** Both tokens are held. */
  mergeable: boolean;
  firstAt: number;
  lastAt: number;
}

/** By market and outcome. */
type Positions = Map<string, SimPosition>;

/** Positions of a wallet after its forgotten trades; `acts` of the world's activities are in them. */
export interface Carried {
  positions: Positions;
  acts: number;
}

type Step = { at: number; order: number; row?: FeedRow; act?: SimActivity };

/** Every position of a wallet, replayed from its trades and the rest of its history; newest last. */
export function positionsOf(world: PolymarketWorld, wallet: SimWallet): SimPosition[] {
  const carried = world.carried.get(wallet);
  const rows: FeedRow[] = [];
  for (const row of feed(world, { takerOnly: false, wallet })) {
    if (carried && row.index < world.ledger.tape.rows.firstFresh) break;
    rows.push(row);
  }
  const positions: Positions = new Map();
  for (const [key, known] of carried?.positions ?? []) {
    positions.set(key, { ...known, currentPrice: priceNow(world, known.market, known.outcome) });
  }
  replay(world, positions, stepsOf(wallet, rows, world.activities.slice(carried?.acts ?? 0)));
  for (const position of positions.values()) {
    const other = positions.get(`${position.market.index}:${position.outcome === 0 ? 1 : 0}`);
    position.mergeable = position.size > 0n && (other?.size ?? 0n) > 0n && !isClosed(position.market);
    if (position.size === 0n) position.status = 'CLOSED';
    else if (position.market.payouts) position.status = 'REDEEMABLE';
  }
  return [...positions.values()];
}

/** Before a trade is forgotten: its parties' positions are carried on without it. */
export function carry(world: PolymarketWorld, index: number): void {
  const { tape } = world.ledger;
  const second = tape.timestamp(index);
  const rows = rowsOf(world, index, { takerOnly: false });
  for (const wallet of new Set(rows.map((row) => row.wallet))) {
    let carried = world.carried.get(wallet);
    const own = rows.filter((row) => row.wallet === wallet);
    if (!carried) {
      world.carried.set(wallet, (carried = { positions: new Map(), acts: 0 }));
      own.push(...feed(world, { takerOnly: false, wallet, below: index }));
    }
    const due = world.activities.findIndex(({ timestamp }) => timestamp >= second);
    const acts = due === -1 ? world.activities.length : due;
    replay(world, carried.positions, stepsOf(wallet, own, world.activities.slice(carried.acts, acts)));
    carried.acts = Math.max(carried.acts, acts);
  }
}

/** In the order of time; what is no trade comes behind the trades of its second. */
function stepsOf(wallet: SimWallet, rows: readonly FeedRow[], activities: readonly SimActivity[]): Step[] {
  const acts = activities.filter((act) => act.wallet === wallet && act.market);
  const steps: Step[] = [
    ...acts.map((act, order) => ({ at: act.timestamp, order: 1e12 + order, act })),
    ...rows.map((row) => ({ at: row.timestamp, order: row.index, row })),
  ];
  return steps.toSorted((a, b) => a.at - b.at || a.order - b.order);
}

function replay(world: PolymarketWorld, positions: Positions, steps: readonly Step[]): void {
  const open = (wallet: SimWallet, market: SimMarket, outcome: OutcomeIndex, at: number): SimPosition => {
    const key = `${market.index}:${outcome}`;
    const known = positions.get(key);
    if (known) return Object.assign(known, { lastAt: at });
    const position: SimPosition = {
      wallet,
      market,
      outcome,
      size: 0n,
      cost: 0n,
      spent: 0n,
      bought: 0n,
      fees: 0n,
      realized: 0n,
      currentPrice: priceNow(world, market, outcome),
      status: 'OPEN',
      mergeable: false,
      firstAt: at,
      lastAt: at,
    };
    positions.set(key, position);
    return position;
  };
  for (const { at, row, act } of steps) {
    if (row) {
      const position = open(row.wallet, row.market, row.outcome, at);
      if (row.side === 'SELL') give(position, row.size, row.price);
      else get(position, row.size, row.price, row.taker ? takerFee(row.market.fee, row.price, row.size) : 0n);
    }
    for (const outcome of [0, 1] as const) {
      const shares = act?.shares[outcome] ?? 0n;
      if (!act?.market || shares === 0n) continue;
      const position = open(act.wallet, act.market, outcome, at);
      const worth = act.type === 'REDEEM' ? (act.market.payouts?.[outcome] ?? 0n) : ONE / 2n;
      if (shares > 0n) get(position, shares, worth, 0n);
      else give(position, -shares, worth);
    }
  }
}

function priceNow(world: PolymarketWorld, market: SimMarket, outcome: OutcomeIndex): bigint {
  const first = currentPrice(world, market);
  return market.payouts?.[outcome] ?? (outcome === 0 ? first : ONE - first);
}

function get(position: SimPosition, size: bigint, price: bigint, fee: bigint): void {
  position.size += size;
  position.bought += size;
  position.cost += size * price;
  position.spent += size * price;
  position.fees += fee;
}

/** Parting with shares at a price realizes the difference to their average cost. */
function give(position: SimPosition, size: bigint, price: bigint): void {
  const cost = position.size === 0n ? 0n : divideHalfEven(position.cost * size, position.size);
  position.realized += size * price - cost;
  position.cost -= cost;
  position.size -= size;
}

/** Average cost of what is held (of all that was bought, once closed), ×10^10. */
export function averagePrice({ size, cost, bought, spent }: SimPosition): bigint {
  if (size > 0n) return divideHalfEven(cost, size);
  return bought === 0n ? 0n : divideHalfEven(spent, bought);
}

export const currentValue = (position: SimPosition): bigint => usdOf(position.currentPrice, position.size);

/** Σ current value of what a wallet holds. */
export const walletValue = (world: PolymarketWorld, wallet: SimWallet): bigint =>
  positionsOf(world, wallet).reduce((sum, position) => sum + currentValue(position), 0n);
