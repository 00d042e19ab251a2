import { pino } from 'pino';
import { MarketMatcher } from '../../ingest/matches/matcher.ts';
import type { Clock } from '../../src/core/time.ts';
import type { Projector } from '../../src/present/projector.ts';
import type { ClickHouse } from '../../src/stores/clickhouse/client.ts';

/** For tests that read no copy. */
export const NO_COPY: Pick<Projector, 'matchesStored' | 'dropMatches'> = {
  matchesStored: async () => {},
  dropMatches: async () => {},
};

/** What matches the markets of a store; nobody hears of its events. */
export const matcherOf = (
  clickhouse: ClickHouse,
  clock: Clock,
  present: Pick<Projector, 'matchesStored' | 'dropMatches'> = NO_COPY,
): MarketMatcher =>
  new MarketMatcher({ clickhouse, clock, present, log: pino({ level: 'silent' }), publish: async () => {} });
