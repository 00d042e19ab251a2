import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createCursors, pagination } from '../../src/http/cursors.ts';

const Position = z.object({ after: z.string(), total: z.int() });
const cursors = createCursors('a secret of the service');
const position = { after: 'kalshi:A', total: 7 };
const filters = { platform: 'kalshi', status: undefined, ids: ['b', 'a'], min: 5n };

describe('a cursor', () => {
  test('carries its position, opaque and in base64url', () => {
    const cursor = cursors.encode('/markets', filters, position) ?? '';
    expect(cursor).toMatch(/^[\w-]+$/);
    expect(cursors.decode('/markets', filters, cursor, Position)).toEqual(position);
  });
  test('is null after the last page, and none asks for the first page', () => {
    expect(cursors.encode('/markets', filters, null)).toBe(null);
    expect(cursors.decode('/markets', filters, undefined, Position)).toBe(null);
  });
  test('does not depend on the order of the filters or on those left out', () => {
    const cursor = cursors.encode('/markets', { a: 1, b: 2 }, position) ?? '';
    expect(cursors.decode('/markets', { b: 2, a: 1, c: undefined, d: null }, cursor, Position)).toEqual(position);
  });
  test.each([
    ['another endpoint', '/trades', filters],
    ['a changed filter', '/markets', { ...filters, platform: 'polymarket' }],
    ['a filter more', '/markets', { ...filters, status: 'open' }],
    ['a changed list', '/markets', { ...filters, ids: ['a', 'b'] }],
  ])('under %s is 400', (_, url, other) => {
    const cursor = cursors.encode('/markets', filters, position) ?? '';
    expect(() => cursors.decode(url, other, cursor, Position)).toThrow(expect.objectContaining({ status: 400 }));
  });
  test('damaged anywhere, cut, foreign or invented is 400', () => {
    const cursor = cursors.encode('/markets', filters, position) ?? '';
    const damaged = Array.from(
      cursor,
      (char, i) => `${cursor.slice(0, i)}${char === 'A' ? 'B' : 'A'}${cursor.slice(i + 1)}`,
    );
    const foreign = createCursors('another secret').encode('/markets', filters, position) ?? '';
    const shape = cursors.encode('/markets', filters, { page: 2 }) ?? '';
    for (const bad of [
      ...damaged.slice(0, -1),
      cursor.slice(0, -3),
      '',
      'x',
      'not a cursor',
      foreign,
      shape,
      `${cursor}=`,
    ]) {
      expect(() => cursors.decode('/markets', filters, bad, Position)).toThrow(
        expect.objectContaining({ status: 400 }),
      );
    }
  });
});

test('pagination: the last page has no more and no cursor', () => {
  expect(pagination(7, 5, 'abc')).toEqual({ total: 7, limit: 5, has_more: true, next_cursor: 'abc' });
  expect(pagination(0, 5, null)).toEqual({ total: 0, limit: 5, has_more: false, next_cursor: null });
});
