import { scaledInteger } from '../../lib/index.ts';
import type { PolymarketWorld } from '../world/world.ts';
import { positionsOf, type SimPosition } from './positions.ts';
import { V2Error, type Asked } from './v2-query.ts';
import { positionRowV2 } from './v2-rows.ts';
import { usdOf } from '../world/units.ts';

const STATUSES = new Set(['OPEN', 'REDEEMABLE', 'REDEEMABLE_LOST', 'MERGEABLE', 'CLOSED']);
const FLOOR = 100_000n;

const SORTS = new Set(['CURRENT_VALUE', 'TOKENS']);

/** What a cursor of /v2/positions keeps; everything else has to be sent again. */
export const positionBinds = (asked: Asked): Record<string, string> => ({
  sort_by: asked.text('sort_by') ?? asked.bound('positions', 'sort_by') ?? 'CURRENT_VALUE',
  status: asked.text('status') ?? asked.bound('positions', 'status') ?? 'OPEN',
  sort_direction: asked.text('sort_direction') ?? asked.bound('positions', 'sort_direction') ?? 'DESC',
});

/** Rows of a wallet or of one market. Unless asked otherwise those below 0.1 shares and of archived markets are hidden. */
export function positionsV2(world: PolymarketWorld, asked: Asked): Record<string, unknown>[] {
  const markets = asked.markets();
  const isOfUser = asked.text('user') !== null;
  if (!isOfUser && !markets) throw new V2Error("required query param 'user' or 'condition' not provided");
  if (!isOfUser && markets && markets.length > 1) throw new V2Error('exactly one condition', 'condition');
  const { status = '', sort_by: sort = '', sort_direction: direction } = positionBinds(asked);
  if (!SORTS.has(sort)) throw new V2Error(`invalid position sortBy: ${sort}`, 'sort_by');
  const key = sort === 'TOKENS' ? ({ size }: SimPosition) => size : value;
  if (!STATUSES.has(status)) throw new V2Error('unknown status', 'status');
  const isArchivedShown = asked.text('include_archived') === 'true';
  if (isArchivedShown && status === 'CLOSED') throw new V2Error('include_archived excludes CLOSED', 'include_archived');
  const wallet = isOfUser ? asked.user() : undefined;
  const wallets = isOfUser ? (wallet ? [wallet] : []) : world.wallets;
  const isShown = floorOf(world, asked);
  const rows = wallets
    .flatMap((one) => positionsOf(world, one))
    .filter((position) => hasStatus(position, status))
    .filter((position) => !markets || markets.includes(position.market))
    .filter((position) => isArchivedShown || !position.market.archived)
    .filter((position) => status === 'CLOSED' || isShown(position))
    .toSorted((a, b) => (key(a) < key(b) ? 1 : key(a) > key(b) ? -1 : 0));
  if (direction === 'ASC') rows.reverse();
  return rows.map(positionRowV2);
}

const value = ({ currentPrice, size }: SimPosition): bigint => currentPrice * size;

/** OPEN is whatever is still held, what can be redeemed too. */
function hasStatus(position: SimPosition, status: string): boolean {
  const isLost = position.status === 'REDEEMABLE' && position.currentPrice === 0n;
  switch (status) {
    case 'OPEN':
      return position.status !== 'CLOSED';
    case 'REDEEMABLE_LOST':
      return isLost;
    case 'MERGEABLE':
      return position.mergeable;
    default:
      return position.status === status;
  }
}

/** The least size or value shown. Values that are none fall back silently; whether 0 lifts the floor is not documented. */
function floorOf(world: PolymarketWorld, asked: Asked): (position: SimPosition) => boolean {
  const asCash = asked.text('filter_type') === 'CASH';
  const amount = scaledInteger(asked.text('filter_amount') ?? '0.1', 6) ?? FLOOR;
  const least = asCash || (world.dataApi.hidesDust && amount < FLOOR) ? FLOOR : amount;
  return ({ size, currentPrice }) => size >= least && (!asCash || usdOf(currentPrice, size) >= amount);
}
