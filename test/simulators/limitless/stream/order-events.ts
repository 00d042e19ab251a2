import { trimmedText } from '../../lib/index.ts';
import { remainingOf, type MemberOrder } from '../orders.ts';
import type { Profile } from '../members.ts';
import { UNIT } from '../model.ts';
import { iso } from '../rows.ts';
import type { LimitlessWorld } from '../world.ts';

/** How an order ended, in the words of an EXECUTION. */
export type Terminal = 'FILLED' | 'PARTIALLY_FILLED' | 'KILLED';
export type EngineEvent =
  | { type: 'PLACEMENT' | 'UPDATE' }
  | { type: 'CANCELLATION'; reason?: 'STP_MAKER_CANCELLED' }
  | { type: 'EXECUTION'; status: Terminal };
/** One side of a match: what it moved, under whose id, in whose order. */
export interface SettledPart {
  size: bigint;
  usd: bigint;
  tradeEventId: string;
  takerOrderId: string;
  takerAccount: string;
  txHash: string;
}
/** What the desk tells of its orders. */
export interface OrderWatch {
  engine(order: MemberOrder, event: EngineEvent): void;
  matched(order: MemberOrder, part: SettledPart): void;
  failed(order: MemberOrder): void;
}

const shares = (size: bigint): string => trimmedText(size, 6);

/** The private event `orderEvent`, from the engine and from the settlement; `send` reaches the order's member alone. */
export function orderEvents(world: LimitlessWorld, send: (profile: Profile, payload: object) => void): OrderWatch {
  let engineEvents = 4_021_175;
  const settlements = new Map<MemberOrder, SettledPart[]>();

  const settle = (order: MemberOrder, part: SettledPart, type: 'MATCHED' | 'MINED' | 'FAILED'): void => {
    const { profile, market, outcome, side, tick } = order.intent;
    const { tradeEventId, txHash } = part;
    const now = iso(world.clock.now());
    send(profile, {
      source: 'SETTLEMENT',
      type,
      eventId: `${type === 'MATCHED' ? 'matched' : 'settlement'}:${tradeEventId}:${order.id}`,
      ...(type === 'MATCHED' ? { isEstimate: true } : { txHash }),
      tradeEventId,
      orderId: order.id,
      takerOrderId: part.takerOrderId,
      takerAccount: part.takerAccount,
      marketSlug: market.slug,
      tokenId: market.tokens[outcome],
      token: outcome === 0 ? 'YES' : 'NO',
      side,
      price: trimmedText(BigInt(tick ?? Number((part.usd * 1000n) / part.size)), 3),
      amountContracts: shares(part.size),
      amountCollateral: shares(part.usd),
      configuredFeeRateBps: 300,
      effectiveFeeBps: order.taking?.feeBps ?? 0,
      makerMatches: [],
      matchedAt: now,
      timestamp: now,
    });
  };

  return {
    engine(order, event) {
      const { profile, market, outcome, side, tick, clientOrderId } = order.intent;
      const isEnd = event.type === 'EXECUTION';
      const left = remainingOf(order);
      const now = iso(world.clock.now());
      send(profile, {
        source: 'OME',
        ...event,
        eventId: isEnd ? `terminal:${order.id}` : (engineEvents += 1),
        orderId: order.id,
        ...(clientOrderId === null || isEnd ? {} : { clientOrderId }),
        userId: profile.id,
        marketId: String(market.id),
        token: market.tokens[outcome],
        side,
        price: (tick ?? 0) / 1000,
        // Shares while it lives, base units as a text once it is over.
        remainingSize: isEnd ? String(left) : Number(left) / Number(UNIT),
        occurredAt: now,
        publishedAt: now,
        timestamp: now,
      });
    },
    matched(order, part) {
      settlements.set(order, [...(settlements.get(order) ?? []), part]);
      settle(order, part, 'MATCHED');
      world.lifecycle.schedule(world.clock.now() + world.minedDelayMs, () => {
        if (order.trouble === null) settle(order, part, 'MINED');
      });
    },
    failed(order) {
      for (const part of settlements.get(order) ?? []) settle(order, part, 'FAILED');
    },
  };
}
