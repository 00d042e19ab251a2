import { historyRow, positionRow, tradeRow, type HistoryItem } from './rows.ts';
import { isLabelled, type FeedRow } from './feed.ts';
import type { SimPosition } from './positions.ts';
import { isoSeconds } from '../gamma/rows.ts';
import type { SimCombo } from '../world/model.ts';
import { sizeNumber } from '../world/units.ts';
import type { PolymarketWorld } from '../world/world.ts';

/** A v1 row with its keys in snake_case. */
export const snake = (row: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(row).map(([key, value]) => [key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), value]),
  );

/** A fresh row does not know its outcome and event yet. */
function labels(world: PolymarketWorld, item: HistoryItem): Record<string, unknown> {
  if (!('taker' in item)) return {};
  if (item.combo) return comboKeys(world, item);
  return isLabelled(world, item) ? {} : { outcome: '', outcome_index: 999, event_slug: '', icon: '' };
}

/** A combo's own condition has 62 digits and no market; its legs are named in the title. */
function comboKeys(world: PolymarketWorld, { index, market }: FeedRow): Record<string, unknown> {
  const condition = `${world.ids.hex('combo', index, 34)}${'0'.repeat(28)}`.replace(/^0x../, '0x03');
  return {
    condition_id: condition,
    token_id: (BigInt(condition) << 8n).toString(),
    title: `${market.question} AND ${market.event.title}`,
    slug: '',
    event_slug: '',
    icon: '',
    outcome: '',
    is_combo: true,
  };
}

export function tradeRowV2(world: PolymarketWorld, row: FeedRow): Record<string, unknown> {
  const { asset, ...rest } = tradeRow(row);
  return { ...snake(rest), token_id: asset, ...labels(world, row) };
}

export function historyRowV2(world: PolymarketWorld, item: HistoryItem): Record<string, unknown> {
  const { asset, ...rest } = historyRow(item);
  return { ...snake(rest), token_id: asset, ...labels(world, item) };
}

/** A wallet's position in a combo of two legs, which has no market. */
export function comboRowV2(world: PolymarketWorld, { of, size }: SimCombo, index: number): Record<string, unknown> {
  const condition = world.ids.hex('combo-position', index, 62).replace(/^0x../, '0x03');
  return {
    combo_condition_id: condition,
    outcome_index: 0,
    outcome_label: 'Yes',
    combo_position_id: (BigInt(condition) << 8n).toString(),
    proxy_wallet: of.address,
    current_size: sizeNumber(size),
    entry_avg_price_usdc: 0.106336,
    entry_cost_usdc: sizeNumber(size) * 0.106336,
    realized_payout_usdc: 0,
    status: 'OPEN',
    redeemable: false,
    first_entry_at: isoSeconds(world.now()),
    resolved_at: null,
    legs_total: 2,
    legs_resolved: 0,
    legs_pending: 2,
    legs: [0, 1].map((leg) => ({ leg_index: leg, leg_outcome_index: 1, leg_outcome_label: 'No', leg_status: 'OPEN' })),
    updated_at: isoSeconds(world.now()),
  };
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
    end_date: row.endDate || '1970-01-01',
    last_event_at: position.lastAt,
    first_entry_at: position.firstAt,
    name: position.wallet.name,
    profile_image: position.wallet.profileImage,
    verified: false,
  };
}
