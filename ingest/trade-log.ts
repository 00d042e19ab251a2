import { z } from 'zod';
import { storeTime } from '../src/core/time.ts';
import { decimalText, notionalUsd, priceText, sizeText, usdText, USD_SCALE, complement } from '../src/core/decimal.ts';
import { type Platform, seriesOf, takerOf, type TradeRecord } from '../src/core/model.ts';
import type { StoredMarket } from '../src/platforms/contract.ts';
import { storedNames, type TraderName } from '../src/queries/trader-names.ts';
import type { Urgency } from '../src/stores/clickhouse/client.ts';
import { microsecondText } from '../src/stores/clickhouse/insert-rows.ts';
import { keptSince } from '../src/stores/clickhouse/retention.ts';
import type { Lease } from '../src/stores/shared/shared.ts';
import { type LoggedTrade, tradeEvent } from '../src/streams/trade-event.ts';
import { type AppenderDeps, EventAppender, type NewEvent } from './event-appender.ts';

/** Trades per batch of a repair. */
const REPAIR_ROWS = 20_000;

const UnloggedRow = z.object({
  ref: z.string(),
  trade_id: z.string(),
  executed_at_us: z.coerce.number(),
  outcome: z.string(),
  outcome_index: z.number(),
  side: z.enum(['buy', 'sell']),
  price: z.string(),
  size: z.string(),
  quote_usd: z.string().nullable(),
  series_price: z.string(),
  notional: z.string(),
  is_block: z.boolean(),
  transaction_hash: z.string(),
  wallet: z.string(),
  ingested_at: z.string(),
});

interface TradeLogDeps extends AppenderDeps {
  platform: Platform;
  /** Stored markets only; others are not requested from the platform. */
  markets: { storedByRef(platform: Platform, refs: string[]): Promise<Map<string, StoredMarket>> };
}

/** Logs stored trades as events, if they were executed after their platform's log was first opened. */
export class TradeLog {
  readonly #deps: TradeLogDeps;
  readonly #appender: EventAppender;
  #openedUs = Infinity;

  constructor(deps: TradeLogDeps) {
    this.#deps = deps;
    this.#appender = new EventAppender(deps, { feed: 'trades', platform: deps.platform });
  }

  async open(lease: Lease): Promise<void> {
    this.#openedUs = (await this.#appender.open(lease)).getTime() * 1000;
  }

  /** The events of trades that are being stored, by execution time; trades of one instant keep the given order. */
  async eventsOf(trades: readonly TradeRecord[]): Promise<NewEvent[]> {
    const recent = trades.filter(({ executedAtUs }) => executedAtUs >= this.#openedUs);
    const now = new Date(this.#deps.clock.now()).toISOString();
    const ordered = recent.toSorted((a, b) => a.executedAtUs - b.executedAtUs);
    return this.#events(
      ordered.map((trade) => ({
        trade: loggedTrade(trade, trade.receivedAt ?? now),
        trader: trade.trader && {
          name: trade.trader.name,
          pseudonym: trade.trader.pseudonym,
          profile_image: trade.trader.profileImage,
        },
      })),
    );
  }

  /** Logs events whose trades are already stored. */
  async append(events: readonly NewEvent[], lease: Lease, urgency: Urgency): Promise<void> {
    await this.#appender.append(events, lease, urgency);
  }

  /** Logs trades stored since `since` without an event: after a kill between the two writes, or by a writer that lost its lease. */
  async reconcile(since: Date, lease: Lease): Promise<void> {
    await this.#appender.settle(lease);
    const { clickhouse, platform, log } = this.#deps;
    if (!Number.isFinite(this.#openedUs)) return;
    // Older events were dropped: the log does not show whether older trades were logged.
    const keptMs = await keptSince(clickhouse, 'event_log', this.#deps.clock.now());
    const sinceMs = Math.max(since.getTime(), keptMs);
    for (;;) {
      const rows = await clickhouse.query('unlogged_trades', UnloggedRow, {
        platform,
        since: storeTime(sinceMs),
        opened: microsecondText(this.#openedUs),
        limit: REPAIR_ROWS,
      });
      if (rows.length === 0) return;
      log.info({ platform, trades: rows.length }, 'Logging stored trades that were not logged');
      const traderOf = await storedNames(
        clickhouse,
        rows.map(({ wallet }) => ({ platform, wallet })),
      );
      const trades = rows.map(({ ingested_at: receivedAt, ...row }) => ({ ...row, platform, received_at: receivedAt }));
      const events = await this.#events(trades.map((trade) => ({ trade, trader: traderOf(trade) ?? null })));
      await this.#appender.append(events, lease);
      if (rows.length < REPAIR_ROWS) return;
    }
  }

  async #events(trades: readonly { trade: LoggedTrade; trader: TraderName | null }[]): Promise<NewEvent[]> {
    if (trades.length === 0) return [];
    const refs = [...new Set(trades.map(({ trade }) => trade.ref))];
    const markets = await this.#deps.markets.storedByRef(this.#deps.platform, refs);
    return trades.map(({ trade, trader }): NewEvent => {
      const market = markets.get(trade.ref);
      return {
        ref: trade.ref,
        eventId: market?.eventId ?? '',
        size: trade.size,
        notional: trade.notional,
        item: trade.trade_id,
        data: JSON.stringify(tradeEvent(trade, market, trader ?? undefined)).toWellFormed(),
      };
    });
  }
}

/** A trade in the form that the store returns. */
function loggedTrade(trade: TradeRecord, receivedAt: string): LoggedTrade {
  const isOwnSeries = trade.outcomeIndex === seriesOf(trade);
  return {
    platform: trade.platform,
    ref: trade.ref,
    trade_id: trade.tradeId,
    side: trade.side,
    outcome: trade.outcome,
    outcome_index: trade.outcomeIndex,
    transaction_hash: trade.transactionHash,
    price: priceText(trade.price),
    size: sizeText(trade.size),
    quote_usd: trade.quoteUsd === null ? null : usdText(trade.quoteUsd),
    series_price: priceText(isOwnSeries ? trade.price : complement(trade.price)),
    notional: decimalText(notionalUsd(trade.price, trade.size), USD_SCALE),
    executed_at_us: trade.executedAtUs,
    is_block: trade.isBlockTrade,
    wallet: takerOf(trade),
    received_at: receivedAt,
  };
}
