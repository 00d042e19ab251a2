import { bigint, boolean, jsonb, pgTable, primaryKey, text, timestamp, uuid } from 'drizzle-orm/pg-core';
import type { Platform } from './schemas.ts';

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

export const accountEvents = pgTable('account_events', {
  id: bigint('id', { mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
  at: time('at').notNull().defaultNow(),
  userId: uuid('user_id'),
  event: text('event').notNull(),
  address: text('address').notNull().default(''),
  detail: jsonb('detail').$type<Record<string, string>>().notNull().default({}),
});
