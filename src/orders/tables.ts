import {
  bigint,
  boolean,
  integer,
  jsonb,
  numeric,
  pgTable,
  primaryKey,
  smallint,
  text,
  timestamp,
  uuid,
} from 'drizzle-orm/pg-core';
import type { OrderStatus, OrderType, SelfTradePrevention, TimeInForce } from '../core/order-model.ts';
import type { JsonObject, Platform, Side } from '../core/model.ts';
import { rowJson } from '../stores/postgres/json-row.ts';

/** The tables of sql/postgres/002_orders.sql, which documents each column. Decimals are text. */
const time = (name: string) => timestamp(name, { withTimezone: true });

/** sending and unknown: it is not known whether the platform accepted the order. */
export type OrderState = 'sending' | 'unknown' | 'placed' | 'rejected';

/** The ApiError of a rejected order, stored for replays. */
interface Refusal {
  status: number;
  message: string;
  resolution: string;
  errorText: string;
  /** Seconds; absent if the platform asked for no wait. */
  retryAfter?: number | undefined;
}

export const orders = pgTable('orders', {
  id: uuid('id').primaryKey(),
  userId: uuid('user_id').notNull(),
  platform: text('platform').$type<Platform>().notNull(),
  credentialId: bigint('credential_id', { mode: 'number' }),
  origin: text('origin').$type<'service' | 'platform'>().notNull(),
  marketRef: text('market_ref').notNull(),
  marketId: text('market_id').notNull(),
  outcome: text('outcome').notNull(),
  outcomeIndex: smallint('outcome_index').notNull(),
  side: text('side').$type<Side>().notNull(),
  type: text('type').$type<OrderType>().notNull(),
  timeInForce: text('time_in_force').$type<TimeInForce>().notNull(),
  price: numeric('price'),
  size: numeric('size').notNull(),
  expiresAt: time('expires_at'),
  amount: numeric('amount'),
  postOnly: boolean('post_only'),
  reduceOnly: boolean('reduce_only'),
  selfTradePrevention: text('self_trade_prevention').$type<SelfTradePrevention>(),
  clientOrderId: text('client_order_id').notNull(),
  notional: numeric('notional').notNull(),
  idempotencyKey: text('idempotency_key'),
  bodyHash: text('body_hash'),
  wire: jsonb('wire').$type<JsonObject>().notNull().default({}),
  state: text('state').$type<OrderState>().notNull(),
  orderId: text('order_id'),
  status: text('status').$type<OrderStatus>().notNull(),
  filledSize: numeric('filled_size'),
  remainingSize: numeric('remaining_size'),
  averageFillPrice: numeric('average_fill_price'),
  receivedSize: numeric('received_size'),
  receivedUsd: numeric('received_usd'),
  makerFee: numeric('maker_fee'),
  takerFee: numeric('taker_fee'),
  metadata: jsonb('metadata').$type<JsonObject>().notNull().default({}),
  refusal: jsonb('refusal').$type<Refusal>(),
  unknownReason: text('unknown_reason'),
  createdAt: time('created_at').notNull(),
  updatedAt: time('updated_at').notNull(),
  askedAt: time('asked_at').notNull(),
  recheckAt: time('next_check_at'),
});

/** Orders as JSON values. */
export const orderJson = rowJson(orders);

export const orderSyncs = pgTable(
  'order_syncs',
  {
    userId: uuid('user_id').notNull(),
    platform: text('platform').$type<Platform>().notNull(),
    credentialId: bigint('credential_id', { mode: 'number' }).notNull(),
    syncedAt: time('synced_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.userId, table.platform, table.credentialId] })],
);

export const orderAttempts = pgTable('order_attempts', {
  id: bigint('id', { mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
  at: time('at').notNull().defaultNow(),
  userId: uuid('user_id').notNull(),
  platform: text('platform').$type<Platform>().notNull(),
  credentialId: bigint('credential_id', { mode: 'number' }),
  rowId: uuid('row_id'),
  orderId: text('order_id'),
  action: text('action').$type<'place' | 'dry_run' | 'find' | 'cancel'>().notNull(),
  result: text('result').notNull(),
  httpStatus: integer('http_status').notNull(),
  detail: text('detail').notNull(),
  ms: integer('ms').notNull(),
  requestId: text('request_id').notNull(),
});

export const orderSettings = pgTable('order_settings', {
  userId: uuid('user_id').primaryKey(),
  tradingEnabled: boolean('trading_enabled').notNull().default(true),
  maxOrderNotional: numeric('max_order_notional'),
  maxDayNotional: numeric('max_day_notional'),
});
