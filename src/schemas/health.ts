import { z } from 'zod';
import { PLATFORMS } from '../core/model.ts';

const Status = z.enum(['ok', 'degraded', 'down']);
export const HealthAnswer = z
  .object({
    status: Status.describe(
      'down: requests cannot be served; degraded: some data is old or a limit is held per process',
    ),
    checks: z
      .array(
        z.object({
          name: z
            .string()
            .describe(
              "clickhouse, postgres, redis, ingestion of a platform, or clock of a platform while this server's differs by more than 2 s",
            ),
          status: Status.describe('ok, degraded or down'),
          platform: z.enum(PLATFORMS).optional().describe('Ingestion checks only'),
          lag_seconds: z
            .number()
            .nullable()
            .optional()
            .describe('Ingestion checks: lag of the stored data in seconds; null before the first sweep'),
          feed: z
            .enum(['live', 'polling', 'stale'])
            .optional()
            .describe(
              'Ingestion checks: live if sockets start each reading, else polling; stale if the data is too old or none is stored yet',
            ),
          socket: z
            .object({
              connected: z.boolean().describe('Whether every connection is open'),
              reason: z
                .string()
                .nullable()
                .describe(
                  'Why a connection is not open, after its name where a platform has several; null if there is no known problem',
                ),
              subscriptions: z.int().describe('Number of subscribed markets, and of channels of the whole platform'),
              last_message_at: z.iso.datetime().nullable().describe('ISO-8601; null before the first message'),
              reconnects: z.int().describe('Number of connections lost since the process began to follow the platform'),
            })
            .optional()
            .describe("Ingestion checks: the platform's sockets"),
          detail: z.string().optional().describe('What is wrong'),
          left_out: z
            .array(z.string())
            .optional()
            .describe(
              'Ingestion checks: items and fields that the last run of a job could not read and left out, each with its id and why. The other items are stored; these are tried again',
            ),
          jobs: z
            .array(
              z.object({
                name: z.string().describe('markets, changed, trades, backfill …'),
                status: z.enum(['ok', 'failed']).describe('ok or failed'),
                finished_at: z.iso.datetime().describe('ISO-8601'),
                note: z.string().describe('Why it failed, or what it left out; empty if there is nothing to say'),
              }),
            )
            .optional()
            .describe('Ingestion checks: the last run of each job in a day'),
          stored: z
            .object({
              markets: z.int().describe('Number of markets of any status'),
              open_markets: z.int().describe('Number of open markets'),
              trades: z.int().describe('Number of trades'),
              first_trade_at: z.iso
                .datetime()
                .nullable()
                .describe('Execution of the oldest trade; null without trades'),
              last_trade_at: z.iso.datetime().nullable().describe('Execution of the newest trade; null without trades'),
            })
            .optional()
            .describe(
              'Ingestion checks: what is stored, counted at most once a minute; absent while it cannot be counted',
            ),
        }),
      )
      .describe('One per store and per platform, and one per platform with another time than this server'),
    uptime_seconds: z.int().describe('Seconds since this process started to serve'),
    version: z.string().describe('Version of the service'),
  })
  .meta({ id: 'Health' });
