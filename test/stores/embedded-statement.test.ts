import { expect, test } from 'vitest';
import { readStatement } from '../../src/embedded/clickhouse/statement.ts';

const value = new Map([['n', '1']]);

test('a statement that comes again is held against the values and the format of its own call', () => {
  const sql = 'SELECT {n:UInt8} AS n';
  expect(readStatement(sql, value, 'JSONEachRow')).toMatchObject({ sql, format: 'JSONEachRow', reads: true });
  expect(() => readStatement(sql, new Map(), 'JSONEachRow')).toThrow('Substitution `n` is not set.');
  expect(readStatement(sql, value, 'CSV').format).toBe('CSV');
  for (const given of ['CSV', 'TabSeparated']) {
    expect(readStatement('SELECT 1 FORMAT Native', new Map(), given).format).toBe('Native');
  }
});

test('what is refused stays refused, however often it comes', () => {
  for (let i = 0; i < 3; i += 1) {
    expect(() => readStatement('SELECT 1; SELECT 2', new Map(), 'CSV')).toThrow('Multi-statements are not allowed');
  }
});

test('what one caller does with a statement changes nothing for the next', () => {
  const first = readStatement('SET max_threads = 1', new Map(), 'CSV');
  first.sql = 'SELECT 1';
  expect(readStatement('SET max_threads = 1', new Map(), 'CSV')).toMatchObject({
    sql: 'SET max_threads = 1',
    taints: true,
    reads: false,
  });
});
