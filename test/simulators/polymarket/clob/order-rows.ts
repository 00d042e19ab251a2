import { outcomeName } from '../world/model.ts';
import { priceText, SECOND, sizeText } from '../world/units.ts';
import type { PolymarketWorld } from '../world/world.ts';
import type { ClobTrade, Placed } from './exchange.ts';
import { spends, type SimOrder } from './order.ts';

/** Rows of the CLOB's private side. Statuses carry a prefix; amounts are human decimals. */

export const placedRow = (order: SimOrder, placed: Placed) => ({
  success: true,
  errorMsg: '',
  orderID: order.id,
  status: placed.status,
  makingAmount: placed.making === 0n ? '' : sizeText(placed.making),
  takingAmount: placed.taking === 0n ? '' : sizeText(placed.taking),
  tradeIDs: placed.tradeIds.length > 0 ? placed.tradeIds : undefined,
});

/** An element of a batch that was refused; `success` may be true all the same. */
export const refusedRow = (errorMsg: string, success: boolean) => ({
  success,
  errorMsg,
  orderID: '',
  status: '',
  makingAmount: '',
  takingAmount: '',
});

const statusOf = ({ status, reason }: SimOrder): string =>
  ['ORDER_STATUS', status === 'DELAYED' ? 'LIVE' : status, reason].filter((part) => part !== undefined).join('_');

/** Plain decimals, or whole base units as the documentation has them. */
const sizeOf = ({ exchange }: PolymarketWorld, size: bigint): string =>
  exchange.inBaseUnits ? size.toString() : sizeText(size);

export const orderRow = (world: PolymarketWorld, order: SimOrder) => ({
  id: order.id,
  status: statusOf(order),
  owner: order.owner,
  maker_address: order.account.wallet.address,
  market: world.exchange.conditionOf(order.market),
  asset_id: order.market.tokenIds[order.outcome] ?? '',
  side: order.side,
  original_size: sizeOf(world, spends(order) ? order.usd : order.shares),
  size_matched: sizeOf(world, order.matched),
  price: priceText(order.price),
  outcome: outcomeName(order.market, order.outcome),
  expiration: order.expiration,
  order_type: order.type,
  associate_trades: order.tradeIds,
  created_at: Math.floor(order.createdMs / SECOND),
});

/** How far settlement is: the transaction is known after a second, final after five. */
function settlement(world: PolymarketWorld, trade: ClobTrade): string {
  if (trade.trouble) return trade.trouble;
  const age = world.now() - trade.matchedMs;
  return age < SECOND ? 'MATCHED' : age < 5 * SECOND ? 'MINED' : 'CONFIRMED';
}

/** A trade as one of its parties sees it; every party sees the taker's side at the top. */
export function tradeRow(world: PolymarketWorld, match: ClobTrade, owner: string) {
  const { trade, takerOrder } = match;
  const status = settlement(world, match);
  const seconds = Math.floor(match.matchedMs / SECOND);
  return {
    id: match.id,
    taker_order_id: takerOrder?.id ?? world.ids.hex('house order', trade.index),
    market: world.exchange.conditionOf(trade.market),
    asset_id: trade.market.tokenIds[trade.outcome] ?? '',
    side: trade.side,
    size: sizeText(trade.size),
    fee_rate_bps: '0',
    price: priceText(trade.price),
    status: `TRADE_STATUS_${status}`,
    match_time: String(seconds),
    match_time_nano: `${match.matchedMs}000000`,
    last_update: String(seconds + (status === 'MATCHED' ? 0 : status === 'MINED' ? 1 : 5)),
    outcome: outcomeName(trade.market, trade.outcome),
    bucket_index: 0,
    owner: takerOrder?.owner ?? world.ids.uuid('house', trade.wallet.index),
    maker_address: trade.wallet.address,
    transaction_hash: status === 'MATCHED' ? '' : trade.transactionHash,
    trader_side: takerOrder?.owner === owner ? 'TAKER' : 'MAKER',
    maker_orders: trade.fills.map((fill, i) => {
      const order = match.makerOrders[i];
      return {
        order_id: order?.id ?? world.ids.hex('house maker', `${trade.index}:${i}`),
        owner: order?.owner ?? world.ids.uuid('house', fill.wallet.index),
        maker_address: fill.wallet.address,
        matched_amount: sizeText(fill.size),
        price: priceText(fill.price),
        fee_rate_bps: '',
        asset_id: trade.market.tokenIds[fill.outcome] ?? '',
        outcome: outcomeName(trade.market, fill.outcome),
        side: fill.side,
      };
    }),
  };
}
