import { historyRow, positionRow, tradeRow, type HistoryItem } from './rows.ts';
import { isLabelled, type FeedRow } from './feed.ts';
import { isoSeconds } from '../gamma/rows.ts';
import type { SimMarket } from '../world/model.ts';
import type { SimPosition } from './positions.ts';
import { ONE } from '../world/units.ts';
import type { PolymarketWorld } from '../world/world.ts';

/** A v1 row with its keys in snake_case. */
export const snake = (row: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(row).map(([key, value]) => [key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), value]),
  );

/** A fresh row does not know its outcome and event yet. */
function labels(world: PolymarketWorld, item: HistoryItem): Record<string, unknown> {
  return 'taker' in item && !isLabelled(world, item) ? { outcome_index: 999, event_slug: '', icon: '' } : {};
}

export function tradeRowV2(world: PolymarketWorld, row: FeedRow): Record<string, unknown> {
  const { asset, ...rest } = tradeRow(row);
  return { ...snake(rest), token_id: asset, ...labels(world, row) };
}

export function historyRowV2(world: PolymarketWorld, item: HistoryItem): Record<string, unknown> {
  const { asset, ...rest } = historyRow(item);
  return { ...snake(rest), token_id: asset, ...labels(world, item) };
}

export function positionRowV2(position: SimPosition): Record<string, unknown> {
  const row = positionRow(position);
  return {
    proxy_wallet: row.proxyWallet,
    token_id: row.asset,
    condition_id: row.conditionId,
    current_size: row.size,
    avg_price: row.avgPrice,
    entry_cost_usdc: row.initialValue,
    entry_fees_usdc: row.entryFeesUsdc,
    total_cost_usdc: row.grossInitialValue,
    current_price: row.curPrice,
    current_value: row.currentValue,
    total_size: row.totalBought,
    realized_pnl: row.realizedPnl,
    unrealized_pnl: row.cashPnl,
    total_pnl: row.cashPnl + row.realizedPnl,
    percent_pnl: row.percentPnl,
    percent_realized_pnl: row.percentRealizedPnl,
    status: position.status,
    redeemable: row.redeemable,
    mergeable: row.mergeable,
    negative_risk: row.negativeRisk,
    archived: position.market.archived,
    title: row.title,
    slug: row.slug,
    icon: row.icon,
    event_id: row.eventId,
    event_slug: row.eventSlug,
    outcome: row.outcome,
    outcome_index: row.outcomeIndex,
    opposite_outcome: row.oppositeOutcome,
    opposite_token_id: row.oppositeAsset,
    end_date: row.endDate,
    last_event_at: position.lastAt,
    first_entry_at: position.firstAt,
    name: position.wallet.name,
    profile_image: position.wallet.profileImage,
    verified: false,
  };
}

/** Prices of questions not decided yet are ×10^18 texts, "69" = none; times are epoch texts, ISO once resolved. */
export function resolutionRow(world: PolymarketWorld, market: SimMarket): unknown {
  const common = {
    condition_id: market.conditionId,
    extended_review: false,
    was_disputed: market.uma.includes('disputed'),
  };
  if (market.payouts && market.resolvedMs !== null) {
    return {
      ...common,
      status: 'resolved',
      new_version_q: false,
      transaction_hash: '',
      log_index: '',
      last_update_timestamp: isoSeconds(market.resolvedMs),
      payouts: market.payouts.map((payout) => Number((payout * 1_000_000n) / ONE)),
      resolution_source: 'reported',
      was_arbitrated: false,
      resolved_at: isoSeconds(market.resolvedMs),
    };
  }
  return {
    question_id: market.questionId,
    ...common,
    status: market.uma.at(-1),
    new_version_q: true,
    proposed_price: '1000000000000000000',
    reproposed_price: '69',
    price: '69',
    transaction_hash: world.ids.hex('resolution', market.id),
    log_index: '602',
    last_update_timestamp: String(Math.floor((market.closedMs ?? 0) / 1000)),
    expected_settlement_time: isoSeconds((market.closedMs ?? 0) + 7_200_000),
  };
}
