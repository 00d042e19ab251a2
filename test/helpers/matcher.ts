import { MarketMatcher } from '../../ingest/matches/matcher.ts';
import { type MarketRecord, type Platform, PLATFORMS } from '../../src/core/model.ts';
import type { Clock } from '../../src/core/time.ts';
import type { Projector } from '../../src/present/projector.ts';
import type { ClickHouse } from '../../src/stores/clickhouse/client.ts';
import { market } from './market-store.ts';
import { silent } from './silent-log.ts';

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
  new MarketMatcher({
    clickhouse,
    clock,
    present,
    log: silent,
    shared: { publish: async () => {} },
  });

/** Judges the new and changed markets of every platform. */
export async function judgeAll(matcher: MarketMatcher): Promise<void> {
  for (const platform of PLATFORMS) await matcher.step(platform, new AbortController().signal);
}

/** What a test knows of a market beside its question. */
type Fields = Partial<Parameters<typeof market>[0]>;

/** A market on the price of Bitcoin at five in the afternoon in New York. */
export const bitcoin = (platform: Platform, ref: string, level: string, fields: Fields = {}): MarketRecord =>
  market({
    platform,
    ref,
    title: `Bitcoin above ${level} on April 2, 5PM ET?`,
    resolutionCriteria: `This market resolves to Yes if the Binance BTC/USDT close at 5PM ET on April 2, 2027 is above ${level}.`,
    resolutionDate: '2027-04-02T21:00:00.000Z',
    category: 'Crypto',
    ...fields,
  });

/** A market on who becomes the president of Italy. */
export const inRome = (platform: Platform, ref: string, name: string, fields: Fields = {}): MarketRecord =>
  market({
    platform,
    ref,
    title: `Will ${name} win the 2028 presidential election in Italy?`,
    resolutionCriteria: `This market resolves to Yes if ${name} wins the 2028 presidential election in Italy. Otherwise it resolves to No.`,
    resolutionDate: '2028-11-07T00:00:00.000Z',
    category: 'Politics',
    ...fields,
  });
