import { isoSeconds } from '../gamma/rows.ts';
import { isClosed, type SimMarket } from '../world/model.ts';
import { ONE } from '../world/units.ts';
import type { PolymarketWorld } from '../world/world.ts';
import { V2Error, type Asked } from './v2-query.ts';

/** /v2/resolutions: what is known of how markets end; those nobody asked the oracle about are left out. */
export function resolutions(world: PolymarketWorld, asked: Asked): unknown[] {
  const given = ['question_id', 'condition', 'event_id'].filter((name) => asked.text(name) !== null);
  if (given.length !== 1) throw new V2Error("provide exactly one of 'question_id', 'condition', or 'event_id'");
  const short = asked.list('condition', 20).find((id) => id.length !== 66);
  if (short !== undefined) throw new V2Error(`invalid resolution condition id: ${short}`, 'condition');
  const question = asked.text('question_id');
  const named = asked.markets() ?? world.markets.filter((market) => market.questionId === question);
  return named.filter((market) => market.version === 'v2' || isAsked(market)).map((market) => row(world, market));
}

const isAsked = (market: SimMarket): boolean =>
  isClosed(market) && (market.uma.length > 0 || payoutsOf(market) !== null);

/** Of the markets of 2020 the oracle knows what their rows no longer print. */
const payoutsOf = ({ payouts, legacy }: SimMarket): bigint[] | null => legacy?.reported ?? (legacy ? null : payouts);

/** Prices of questions not decided yet are 10^18 texts, "69" = none; times are epoch texts, ISO on rows of conditions. */
function row(world: PolymarketWorld, market: SimMarket): unknown {
  const payouts = payoutsOf(market);
  const common = {
    condition_id: market.conditionId,
    extended_review: false,
    was_disputed: market.uma.includes('disputed'),
  };
  const resolvedMs = market.resolvedMs ?? market.closedMs;
  if (payouts && resolvedMs !== null) {
    return {
      ...common,
      status: 'resolved',
      new_version_q: false,
      transaction_hash: '',
      log_index: '',
      last_update_timestamp: isoSeconds(resolvedMs),
      ...(market.version === 'v2' ? { market_type: 'BINARY', reporter: 'CHAINLINK' } : {}),
      payouts: payouts.map((payout) => Number((payout * 1_000_000n) / ONE)),
      resolution_source: 'reported',
      resolved_at: isoSeconds(resolvedMs),
    };
  }
  if (market.version === 'v2') {
    const changedAt = isoSeconds(market.closedMs ?? market.createdMs);
    return {
      ...common,
      status: 'active',
      new_version_q: false,
      last_update_timestamp: changedAt,
      market_type: 'BINARY',
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
    settlement_time_basis: 'liveness',
  };
}
