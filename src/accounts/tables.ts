import {
  bigint,
  boolean,
  integer,
  jsonb,
  numeric,
  pgTable,
  primaryKey,
  text,
  timestamp,
  uuid,
} from 'drizzle-orm/pg-core';
import type { Platform, Scope } from '../core/model.ts';

/** The tables of sql/postgres/001_accounts.sql, where each column is explained. */
const time = (name: string) => timestamp(name, { withTimezone: true });
const createdAt = time('created_at').notNull().defaultNow();

export type Tier = 'free' | 'pro';

export const users = pgTable('users', {
  id: uuid('id').primaryKey().defaultRandom(),
  email: text('email').notNull(),
  name: text('name').notNull().default(''),
  passwordHash: text('password_hash'),
  tier: text('tier').$type<Tier>().notNull().default('free'),
  requestsPerMinute: integer('requests_per_minute'),
  emailVerifiedAt: time('email_verified_at'),
  createdAt,
});

export const identities = pgTable(
  'identities',
  {
    issuer: text('issuer').notNull(),
    subject: text('subject').notNull(),
    userId: uuid('user_id').notNull(),
    createdAt,
  },
  (table) => [primaryKey({ columns: [table.issuer, table.subject] })],
);

export const sessions = pgTable('sessions', {
  id: uuid('id').primaryKey(),
  userId: uuid('user_id').notNull(),
  createdAt,
  expiresAt: time('expires_at').notNull(),
  address: text('address').notNull().default(''),
  userAgent: text('user_agent').notNull().default(''),
  lastUsedAt: time('last_used_at'),
  authenticatedAt: time('authenticated_at').notNull().defaultNow(),
});

export const apiKeys = pgTable('api_keys', {
  id: uuid('id').primaryKey().defaultRandom(),
  userId: uuid('user_id').notNull(),
  name: text('name').notNull(),
  prefix: text('prefix').notNull(),
  hash: text('hash').notNull(),
  createdAt,
  lastUsedAt: time('last_used_at'),
  revokedAt: time('revoked_at'),
  scopes: text('scopes').array().$type<Scope[]>().notNull().default(['read']),
  expiresAt: time('expires_at'),
  allowedAddresses: text('allowed_addresses').array().notNull().default([]),
});

export const credentials = pgTable('credentials', {
  id: bigint('id', { mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
  userId: uuid('user_id').notNull(),
  platform: text('platform').$type<Platform>().notNull(),
  label: text('label').notNull(),
  isDefault: boolean('is_default').notNull().default(false),
  keyId: text('key_id').notNull(),
  sealed: text('sealed').notNull(),
  createdAt,
});

export const knownNetworks = pgTable(
  'known_networks',
  {
    userId: uuid('user_id').notNull(),
    network: text('network').notNull(),
    seenAt: time('seen_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.userId, table.network] })],
);

export const passwordResets = pgTable('password_resets', {
  hash: text('hash').primaryKey(),
  userId: uuid('user_id').notNull(),
  mailed: boolean('mailed').notNull(),
  createdAt: time('created_at').notNull(),
  expiresAt: time('expires_at').notNull(),
});

export const accountEvents = pgTable('account_events', {
  id: bigint('id', { mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
  at: time('at').notNull().defaultNow(),
  userId: uuid('user_id'),
  event: text('event').notNull(),
  address: text('address').notNull().default(''),
  detail: jsonb('detail').$type<Record<string, string>>().notNull().default({}),
});

/** The tables of the operator's default clients, of sql/postgres/002_orders.sql. */
export const defaultClientUsers = pgTable('default_client_users', {
  userId: uuid('user_id').primaryKey(),
  grantedAt: time('granted_at').notNull().defaultNow(),
});

export const defaultClientSettings = pgTable('default_client_settings', {
  onlyRow: boolean('only_row').primaryKey().default(true),
  tradingEnabled: boolean('trading_enabled').notNull().default(true),
  maxOrderNotional: numeric('max_order_notional'),
});

/** The table of sql/postgres/006_watched_wallets.sql. */
export const watchedWallets = pgTable(
  'watched_wallets',
  { userId: uuid('user_id').notNull(), address: text('address').notNull(), createdAt },
  (table) => [primaryKey({ columns: [table.userId, table.address] })],
);
