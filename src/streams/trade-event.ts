import { MANIFESTS } from '../platforms/manifests.ts';
import type { StoredMarket } from '../platforms/contract.ts';
import { outcomeName } from '../platforms/market-fields.ts';
import { tradeAnswer, type TradeRow } from '../queries/market-trades.ts';
import type { TraderName } from '../queries/trader-names.ts';

/** A trade to be logged: as stored, with its market's reference and its notional value in USD. */
export interface LoggedTrade extends TradeRow {
  platform: StoredMarket['platform'];
  ref: string;
  notional: string;
  /** When this service received it, ISO-8601. */
  received_at: string;
}

/** The data of a `trade` event: the fields of GET markets/trades and trades/whales. A market that is not listed has only its ref. */
export function tradeEvent(
  trade: LoggedTrade,
  market: StoredMarket | undefined,
  trader: TraderName | undefined,
): object {
  const answer = tradeAnswer(trade, market ?? unlisted(trade), trader);
  return {
    ...answer,
    market_title: market?.title ?? '',
    outcome_name: outcomeName(market?.metadata ?? {}),
    notional_value: Number(trade.notional),
    trader: { address: MANIFESTS[trade.platform].walletText(trade.wallet), ...answer.user },
    exchange_at: answer.metadata['executed_at'],
    received_at: trade.received_at,
  };
}

const unlisted = ({ platform, ref }: LoggedTrade): StoredMarket => ({
  platform,
  ref,
  platformId: ref,
  slug: '',
  title: '',
  eventId: '',
  sourceUrl: '',
  seriesId: '',
  status: '',
  outcomes: [],
  tradingStartAt: null,
  tradingEndAt: null,
  metadata: {},
});
