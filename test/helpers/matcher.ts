import { pino } from 'pino';
import { MarketMatcher } from '../../ingest/matches/matcher.ts';
import type { Clock } from '../../src/core/time.ts';
import type { ClickHouse } from '../../src/stores/clickhouse/client.ts';

/** What matches the markets of a store; nobody hears of its events. */
export const matcherOf = (clickhouse: ClickHouse, clock: Clock): MarketMatcher =>
  new MarketMatcher({ clickhouse, clock, log: pino({ level: 'silent' }), publish: async () => {} });
