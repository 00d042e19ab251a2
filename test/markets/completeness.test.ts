import { describe, expect, test } from 'vitest';
import { completenessOf, lacks, together } from '../../src/markets/completeness.ts';
import type { StoredHistory, StoredSpan } from '../../src/markets/trade-history.ts';
import type { StoredMarket } from '../../src/platforms/contract.ts';

const NOW = Date.parse('2026-11-25T00:00:00Z');
const BORN = '2026-03-01T00:00:00.000Z';
const us = (iso: string): number => Date.parse(iso) * 1000;

type Ended = StoredMarket & { resolvedAt: string | null; syncedAt: string };
const market = (over: Partial<Ended> = {}): Ended => ({
  platform: 'polymarket',
  ref: '0xabc',
  platformId: '7',
  slug: '',
  title: '',
  eventId: '',
  sourceUrl: '',
  seriesId: '',
  status: 'settled',
  outcomes: [],
  tradingStartAt: BORN,
  tradingEndAt: '2026-06-01T00:00:00.000Z',
  resolvedAt: null,
  syncedAt: '2026-11-24T23:30:00.000Z',
  metadata: {},
  ...over,
});
const pool = market({ platform: 'limitless', ref: '0xpool', metadata: { trade_type: 'amm' } });
/** Of the AMM era: no condition, or one that no feed reaches. */
const [old, older] = ['gamma:949503', '0xdef'].map((ref) =>
  market({ ref, tradingStartAt: '2021-01-10T00:00:00.000Z', tradingEndAt: '2021-06-02T16:31:01.000Z' }),
);

const span = (from: string, over: Partial<StoredSpan> = {}): StoredHistory => ({
  span: { fromUs: us(from), toUs: NOW * 1000, ...over },
  gaps: [],
});
const nothing: StoredHistory = { span: null, gaps: [] };
const sold = { volume: '120345.67', trades: 0 };
const unsold = { volume: '0', trades: 0 };
const unknown = { volume: null, trades: 0 };

describe('what is missing of a market is said', () => {
  test.each([
    ['a pool', pool, nothing, sold, [null, 'not_in_feed']],
    ['a pool that was never traded', pool, nothing, unsold, [null, 'none']],
    ['a pool whose volume is unknown', pool, nothing, unknown, [null, 'unknown']],
    ['a market of the AMM era', old, nothing, sold, [null, 'not_in_feed']],
    ['a market of the AMM era beside the feed', old, span('2026-10-01T00:00:00.000Z'), sold, [null, 'not_in_feed']],
    [
      'one that no feed reaches',
      older,
      span('2026-10-01T00:00:00.000Z'),
      sold,
      ['2026-10-01T00:00:00.000Z', 'not_in_feed'],
    ],
    ['one that no feed reaches, not read', older, nothing, sold, [null, 'not_in_feed']],
    [
      'one whose older trades are not read',
      market(),
      span('2026-05-01T00:00:00.000Z'),
      sold,
      ['2026-05-01T00:00:00.000Z', 'unknown'],
    ],
    ['one that was never read', market(), nothing, sold, [null, 'unknown']],
    ['one that was never traded', market(), nothing, unsold, [null, 'none']],
    [
      'one with a shorter feed',
      market(),
      span('2026-04-01T00:00:00.000Z', { startsFeed: true }),
      sold,
      ['2026-04-01T00:00:00.000Z', 'not_in_feed'],
    ],
    ['one with all trades', market(), span('2026-02-01T00:00:00.000Z'), { volume: '5', trades: 3 }, [BORN, 'none']],
    ['one with a volume and an empty feed', market(), span('2026-02-01T00:00:00.000Z'), sold, [null, 'not_in_feed']],
    [
      'one with a volume and an empty feed that was settled early',
      market({ tradingEndAt: '2027-06-01T00:00:00.000Z', resolvedAt: '2026-06-01T00:00:00.000Z' }),
      span('2026-02-01T00:00:00.000Z'),
      sold,
      [null, 'not_in_feed'],
    ],
    [
      'one with a volume and an empty feed that had closed early when it was last read',
      market({ status: 'closed', tradingEndAt: '2027-06-01T00:00:00.000Z', syncedAt: '2026-11-23T00:00:00.000Z' }),
      span('2026-02-01T00:00:00.000Z'),
      sold,
      [null, 'not_in_feed'],
    ],
    [
      'one that may just have closed early',
      market({ status: 'closed', tradingEndAt: '2027-06-01T00:00:00.000Z' }),
      span('2026-02-01T00:00:00.000Z'),
      sold,
      [BORN, 'none'],
    ],
    [
      'one that was settled a moment ago',
      market({ tradingEndAt: '2027-06-01T00:00:00.000Z', resolvedAt: '2026-11-24T23:00:00.000Z' }),
      span('2026-02-01T00:00:00.000Z'),
      sold,
      [BORN, 'none'],
    ],
    [
      'one that opened a moment ago',
      market({ status: 'open', tradingEndAt: null }),
      span('2026-02-01T00:00:00.000Z'),
      sold,
      [BORN, 'none'],
    ],
  ] as const)('%s', (_what, of, history, facts, [from, older_trades]) => {
    expect(completenessOf(of!, history, facts, NOW)).toEqual({ complete_from: from, older_trades });
  });

  test('a gap of the feed moves the time from which all is stored', () => {
    const gaps = [{ fromUs: us('2026-05-01T00:00:00Z'), toUs: us('2026-05-02T00:00:00Z') }];
    const holed = { ...span('2026-02-01T00:00:00.000Z'), gaps };
    const expected = { complete_from: '2026-05-02T00:00:00.000Z', older_trades: 'unknown' };
    expect(completenessOf(market(), holed, { volume: '5', trades: 3 }, NOW)).toEqual(expected);
  });

  test('a gap that ended before a market began to trade takes nothing from it', () => {
    const gaps = [{ fromUs: us('2026-02-10T00:00:00Z'), toUs: us('2026-02-11T00:00:00Z') }];
    const holed = { ...span('2026-02-01T00:00:00.000Z'), gaps };
    const expected = { complete_from: BORN, older_trades: 'none' };
    expect(completenessOf(market(), holed, { volume: '5', trades: 3 }, NOW)).toEqual(expected);
  });

  test('several markets are as complete as the least complete of them', () => {
    const [whole, late] = [
      { complete_from: BORN, older_trades: 'none' },
      { complete_from: '2026-05-01T00:00:00.000Z', older_trades: 'unknown' },
    ] as const;
    expect(together([whole, late])).toEqual(late);
    const missing = { complete_from: null, older_trades: 'not_in_feed' } as const;
    expect(together([whole, missing, late])).toEqual(missing);
    expect(together([whole])).toEqual(whole);
  });

  test('a range is incomplete if trades of it are in no feed', () => {
    const from = '2026-05-01T00:00:00.000Z';
    const at = Date.parse(from) / 1000;
    expect(lacks({ complete_from: from, older_trades: 'not_in_feed' }, at)).toBe(false);
    expect(lacks({ complete_from: from, older_trades: 'not_in_feed' }, at - 1)).toBe(true);
    expect(lacks({ complete_from: null, older_trades: 'not_in_feed' }, at)).toBe(true);
    expect(lacks({ complete_from: null, older_trades: 'unknown' }, at)).toBe(false);
  });
});
