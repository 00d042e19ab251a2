import { z } from 'zod';
import { MarketTradeAnswer, platformField, statusField, timeField, timeOrNull, titleField } from './markets.ts';
import { bookChangeFields } from './books.ts';
import { RELATIONS } from '../core/model.ts';
import { OrderBookAnswer } from './order-book.ts';
import { OrderEvent } from './orders.ts';
import { GapAnswer } from './matches.ts';
import { ErrorAnswer } from './error.ts';
import { WhaleTradeAnswer } from './whale-trades.ts';
import { VOLUME_UNIT } from './volume-unit.ts';

/** Schemas of stream events; the AsyncAPI description is generated from them. */
const sequenceField = z
  .int()
  .describe('Position in the log of its platform: increases with each event, not always by 1');
const sentField = timeField.describe('When this service sent it, ISO-8601');
const receivedField = timeField.describe('When this service received it, ISO-8601');
const priceOrNull = z.number().nullable();

export const TradeEvent = MarketTradeAnswer.extend({
  market_title: WhaleTradeAnswer.shape.market_title,
  outcome_name: WhaleTradeAnswer.shape.outcome_name,
  notional_value: WhaleTradeAnswer.shape.notional_value,
  trader: WhaleTradeAnswer.shape.trader,
  exchange_at: timeField.describe("Execution by the platform's clock, ISO-8601"),
  received_at: receivedField,
  sequence: sequenceField,
  sent_at: sentField,
}).meta({ id: 'TradeEvent', description: 'A fill, once it is stored' });

const MarketEvent = z
  .object({
    type: z.enum(['created', 'status', 'resolved', 'changed']),
    platform: platformField,
    market_id: MarketTradeAnswer.shape.market_id,
    status: statusField,
    previous_status: z.string().nullable().describe('null if it was created'),
    resolved_at: timeOrNull('When it was settled', 'before, and if not reported'),
    payouts: z
      .record(z.string(), z.number())
      .nullable()
      .describe('Payout of each outcome in USD per contract; null before, and if not reported'),
    at: timeField.describe('When the change was logged, ISO-8601'),
    received_at: receivedField,
    sequence: sequenceField,
    sent_at: sentField,
  })
  .meta({ id: 'MarketEvent', description: 'A market that was created or has changed' });

const matchedField = z.object({
  platform: platformField,
  market_id: MarketTradeAnswer.shape.market_id,
  title: titleField,
});

export const MatchEvent = z
  .object({
    type: z
      .enum(['found', 'changed', 'withdrawn'])
      .describe('changed: the verdict was made again, on other texts or by other rules. withdrawn: it holds no longer'),
    match_id: z.string().describe('Id of the match: GET matches/{id} has its reasons'),
    relation: z.enum(RELATIONS).nullable().describe('How a relates to b; null if the match was withdrawn'),
    previous_relation: z.enum(RELATIONS).nullable().describe('The relation before; null of a new pair'),
    kind: z.string().describe('Kind of the question: game, price, election and so on'),
    a: matchedField,
    b: matchedField,
    rules_version: z.int().describe('Version of the rules that made the verdict'),
    found_at: timeField.describe('When the pair was found, ISO-8601'),
    checked_at: timeField.describe('When the verdict was made, ISO-8601'),
    sequence: sequenceField,
    sent_at: sentField,
  })
  .meta({ id: 'MatchEvent', description: 'A verdict on two markets of two platforms, once it is stored' });

export const MatchGapEvent = z
  .object({
    type: z
      .enum(['reached', 'ended'])
      .describe(
        'reached: the edge at the whole size is at or above min_edge. ended: it is below that again, or unknown',
      ),
    ...GapAnswer.shape,
    sent_at: sentField,
  })
  .meta({
    id: 'MatchGapEvent',
    description: 'A gap of two markets that has reached the wanted edge, or no longer has it',
  });

const QuoteEvent = z
  .object({
    platform: platformField,
    market_id: MarketTradeAnswer.shape.market_id,
    prices: z.record(
      z.string(),
      z.object({
        price: priceOrNull,
        bid: priceOrNull,
        ask: priceOrNull,
        bid_size: priceOrNull,
        ask_size: priceOrNull,
      }),
    ),
    volume_total: z.number().nullable().describe(`Total volume: ${VOLUME_UNIT}; null when unknown`),
    exchange_at: timeOrNull("The platform's time", 'if it gives none'),
    received_at: receivedField,
    sent_at: sentField,
  })
  .meta({ id: 'QuoteEvent', description: 'The newest quote of a market' });

const checksumField = z
  .int()
  .describe(
    'CRC32, unsigned, of the ten best levels of each side after this message as text: bids best first, `|`, asks best first; each level as `price:size`, joined by commas, numbers as decimals without exponent or trailing zeros. The text of bids 0.41 × 20 and 0.4 × 3 and one ask 0.43 × 7.5 is `0.41:20,0.4:3|0.43:7.5`',
  );
const bookSequence = z.int().describe('Message number of this subscription and market: increases by exactly 1');

export const WholeBookEvent = OrderBookAnswer.shape.data
  .omit({ raw_data: true })
  .extend({
    outcome: bookChangeFields.outcome,
    sequence: bookSequence,
    checksum: checksumField,
    exchange_at: bookChangeFields.exchange_at,
    received_at: receivedField,
    sent_at: sentField,
  })
  .meta({ id: 'BookEvent', description: 'The whole order book; `no` is the complement of `yes`' });

export const BookChangeEvent = z
  .object({ ...bookChangeFields, sequence: bookSequence, checksum: checksumField, sent_at: sentField })
  .meta({ id: 'BookChangeEvent', description: 'Levels of the first outcome that changed' });

const StateEvent = z
  .object({
    platforms: z.record(
      z.string(),
      z.object({
        feed: z.enum(['live', 'polling', 'stale', 'off']),
        fresh_to: timeOrNull('Up to when stored trades are complete', 'before the first poll'),
        lag_seconds: z.int().nullable().describe('Seconds since fresh_to; null without it'),
      }),
    ),
    dropped: z.int().describe('Number of quotes that newer ones replaced before they were sent'),
    cursor: z.string().nullable().optional().describe('Position of the stream; null without durable events'),
    cursors: z.record(z.string(), z.string().nullable()).optional().describe('WebSocket: positions by sid'),
  })
  .meta({ id: 'StateEvent', description: 'At the start, on change and every 15 s' });

const GapEvent = z
  .object({
    platform: platformField,
    market_id: MarketTradeAnswer.shape.market_id.optional(),
    from: timeField,
    to: timeField,
    reason: z.string(),
  })
  .meta({ id: 'GapEvent', description: 'Events in this range may be missing' });

/** Events by name. */
export const STREAM_EVENTS = {
  trade: TradeEvent,
  market: MarketEvent,
  match: MatchEvent,
  match_gap: MatchGapEvent,
  quote: QuoteEvent,
  book: WholeBookEvent,
  book_change: BookChangeEvent,
  order: OrderEvent,
  state: StateEvent,
  gap: GapEvent,
} as const;

const id = z.union([z.string(), z.int()]).optional().describe('Echoed in the answer');
const list = z.union([z.string(), z.array(z.string())]).optional();
const number = z.union([z.number(), z.string()]).optional();

/** Messages of a WebSocket client, by op. */
export const SOCKET_MESSAGES = {
  auth: z.object({ op: z.literal('auth'), id, key: z.string().describe('pk_…') }),
  subscribe: z.object({
    op: z.literal('subscribe'),
    id,
    channel: z.enum(['trades', 'whales', 'markets', 'matches', 'quotes', 'books', 'match_gaps', 'orders']),
    platform: list.describe('All when absent'),
    market_ids: list.describe('Unified ids, at most 500'),
    event_id: z.string().optional(),
    min_size: z.number().optional().describe('Contracts'),
    min_notional: z.number().optional().describe('USD'),
    addresses: list.describe('Trades of these takers alone, at most 100'),
    match_ids: list.describe('Pairs of the channel match_gaps, at most 10; else those of market_ids'),
    size: number.describe('Contracts, for the channel match_gaps; this or amount'),
    amount: number.describe('USD, for the channel match_gaps; this or size'),
    min_edge: number.describe('USD a contract, for the channel match_gaps; default 0'),
    depth: z.int().optional().describe('Levels per side, for the channel books'),
    since: z.union([z.string(), z.number()]).optional().describe('A cursor or a time'),
  }),
  unsubscribe: z.object({ op: z.literal('unsubscribe'), id, sid: z.int() }),
  ping: z.object({ op: z.literal('ping'), id }),
} as const;

/** Answers to messages of a WebSocket client, by op. */
export const SOCKET_ANSWERS = {
  authenticated: z.object({ op: z.literal('authenticated'), id }),
  subscribed: z.object({
    op: z.literal('subscribed'),
    id,
    sid: z.int().describe('Number of the subscription: its events carry it'),
  }),
  unsubscribed: z.object({ op: z.literal('unsubscribed'), id, sid: z.int() }),
  pong: z.object({ op: z.literal('pong'), id }),
  error: z.object({ op: z.literal('error'), id, error: ErrorAnswer.shape.error }),
} as const;
