import { pino } from 'pino';
import { expect, test } from 'vitest';
import type { ClickHouse } from '../../src/stores/clickhouse/client.ts';
import { QuoteFollower } from '../../src/streams/quotes.ts';
import { virtualClock } from '../helpers/virtual-clock.ts';

const query = async () => {
  throw new Error('the store is away');
};

test('a failed read of the first quotes of a stream is logged', async () => {
  const lines: string[] = [];
  const log = pino({}, { write: (line: string) => void lines.push(line) });
  const follower = new QuoteFollower({ clock: virtualClock(), clickhouse: { query } as unknown as ClickHouse, log });
  expect(await follower.newest(new Map([['kalshi', new Set(['A'])]]))).toEqual([]);
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain('Failed to read the first quotes of a stream');
});
