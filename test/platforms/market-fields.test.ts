import { describe, expect, test } from 'vitest';
import { parsePrice, parseUsd } from '../../src/core/decimal.ts';
import { bookSide, mirrorSide } from '../../src/platforms/book-sides.ts';
import { canonicalCategory, categorySlug } from '../../src/platforms/categories.ts';
import {
  complementQuote,
  htmlToText,
  isoFromEpoch,
  isTimeOrUnknown,
  isoTime,
  kebab,
  liquidityScore,
  microseconds,
  outcomeIds,
  outcomeName,
  youngMarketVolume,
} from '../../src/platforms/market-fields.ts';

const level = (price: string, size: bigint) => ({ price: parsePrice(price), size });

test.each([
  [{ group_item_title: ' **Ann** Lee ', yes_sub_title: 'Bob' }, 'Ann Lee'],
  [{ group_item_title: 'Yes' }, 'Yes'],
  [{ yes_sub_title: '79° or below' }, '79° or below'],
  [{ yes_sub_title: 'YES' }, null],
  [{ yes_sub_title: 'No change' }, 'No change'],
  [{ group_item_title: '', yes_sub_title: '' }, null],
  [{ group_item_title: 7 }, null],
  [{}, null],
])('the name of a market within its event: %j is %s', (metadata, name) => {
  expect(outcomeName(metadata)).toBe(name);
});

describe('a platform time', () => {
  test.each([
    ['2026-09-29T04:01:07.17746Z', '2026-09-29T04:01:07.177Z'],
    ['2026-09-29T04:01:07.9999999Z', '2026-09-29T04:01:07.999Z'],
    ['2026-10-11T00:15:00Z', '2026-10-11T00:15:00.000Z'],
    ['2026-03-19 23:20:15+00', '2026-03-19T23:20:15.000Z'],
    ['2026-03-19T23:20:15.5-05:30', '2026-03-20T04:50:15.500Z'],
    ['0001-01-01T00:00:00Z', null],
    ['9999-99-31T00:00:00Z', null],
    ['9999-12-31T23:59:59-05:00', null],
    ['1900-01-01T00:00:00+05:00', null],
    ['Oct 12, 2026', null],
    ['', null],
    [null, null],
  ])('%s is %s', (text, expected) => {
    expect(isoTime(text)).toBe(expected);
  });

  test.each([
    // Offsets.
    ['2026-11-24 21:38:35.683314+00:00:00', '2026-11-24T21:38:35.683Z'],
    ['2026-11-24 21:38:35 +00:00', '2026-11-24T21:38:35.000Z'],
    ['2026-11-24T21:38:35.5-04:56:02', '2026-11-25T02:34:37.500Z'],
    ['2026-11-24T21:38:35+0530', '2026-11-24T16:08:35.000Z'],
    ['2026-11-24T21:38:35+053000', '2026-11-24T16:08:35.000Z'],
    ['2026-11-24T21:38:35\u221205', '2026-11-25T02:38:35.000Z'],
    ['2026-11-24t21:38:35z', '2026-11-24T21:38:35.000Z'],
    // Basic forms and fractions.
    ['20261124T213835Z', '2026-11-24T21:38:35.000Z'],
    ['20261124T213835,25+0100', '2026-11-24T20:38:35.250Z'],
    ['20261124T2138', '2026-11-24T21:38:00.000Z'],
    ['20261124', '2026-11-24T00:00:00.000Z'],
    ['2026-11-24T21:38:35,683Z', '2026-11-24T21:38:35.683Z'],
    ['2026-11-24T21:38.25Z', '2026-11-24T21:38:15.000Z'],
    ['2026-11-24T21,5Z', '2026-11-24T21:30:00.000Z'],
    ['2026-11-24T21Z', '2026-11-24T21:00:00.000Z'],
    ['2026-11-24T21:38:35.123456789123456789Z', '2026-11-24T21:38:35.123Z'],
    // Week and ordinal dates.
    ['2026-W48-2T21:38:35Z', '2026-11-24T21:38:35.000Z'],
    ['2026W482T213835Z', '2026-11-24T21:38:35.000Z'],
    ['2026-W53-7', '2027-01-03T00:00:00.000Z'],
    ['2025-W01-1', '2024-12-30T00:00:00.000Z'],
    ['2026-328T21:38:35Z', '2026-11-24T21:38:35.000Z'],
    ['2024366', '2024-12-31T00:00:00.000Z'],
    ['+002026-11-24T21:38:35Z', '2026-11-24T21:38:35.000Z'],
    // The ends of days.
    ['2026-11-24T24:00:00Z', '2026-11-25T00:00:00.000Z'],
    ['2026-12-31T24:00+01:00', '2026-12-31T23:00:00.000Z'],
    ['2016-12-31T23:59:60Z', '2017-01-01T00:00:00.000Z'],
    ['2017-01-01T05:29:60.5+05:30', '2017-01-01T00:00:00.500Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z'],
  ])('in the ISO 8601 form %s is %s', (text, expected) => {
    expect(isoTime(text)).toBe(expected);
    expect(isTimeOrUnknown(text)).toBe(true);
  });

  test.each([
    '2026-02-30T00:00:00Z',
    '2025-02-29',
    '20260431',
    '2026-13-01T00:00:00Z',
    '2026-00-10T00:00:00Z',
    '2026-11-00',
    '2026-366',
    '2026-000',
    '2025-W53-1',
    '2026-W00-1',
    '2026-W48-8',
    '2026-11-24T25:00:00Z',
    '2026-11-24T24:00:01Z',
    '2026-11-24T24:30Z',
    '2026-11-24T21:60:00Z',
    '2026-11-24T21:38:61Z',
    '2026-11-24T21:38:60Z',
    '2026-11-24T21:38:35+99',
    '2026-11-24T21:38:35+24:00',
    '2026-11-24T21:38:35+05:60',
    '2026-11-24T21:38:35+00:00:75',
    '2026-11-24T2138:35Z',
    '2026-11-24T',
    '2026-11-24T21:38:35 UTC',
    '2026-112-05',
    '2026-11',
    '1764020315',
    'Nov 24, 2026',
    '0001-02-01T00:00:00Z',
  ])('%s is unreadable', (text) => {
    expect(isoTime(text)).toBeNull();
    expect(isTimeOrUnknown(text)).toBe(false);
  });

  test('that is empty, or the zero time, is unknown and not unreadable', () => {
    for (const text of ['', ' ', '0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z']) {
      expect(isoTime(text)).toBeNull();
      expect(isTimeOrUnknown(text)).toBe(true);
    }
  });

  test('keeps its microseconds for ordering', () => {
    expect(microseconds('1970-01-01T00:00:01.000002Z')).toBe(1_000_002);
  });

  test.each([
    [1_803_963_540_000, '2027-03-02T04:59:00.000Z'],
    ['1790107200', '2026-09-22T20:00:00.000Z'],
    [0, null],
    ['0', null],
    [-1, null],
    [253_402_300_800_000, null],
    [-62_135_596_800_000, null],
    ['', null],
    ['soon', null],
    [null, null],
  ])('as the number %s is %s, seconds and milliseconds distinguished by size', (value, expected) => {
    expect(isoFromEpoch(value)).toBe(expected);
  });
});

test('outcome ids are yes and no, else plain words, else the index, and differ within a market', () => {
  expect(outcomeIds(['YES', 'no'])).toEqual(['yes', 'no']);
  expect(outcomeIds(['FaZe', 'Over 2.5', 'São Paulo', '日本', 'faze'])).toEqual([
    'faze',
    'over-2-5',
    'sao-paulo',
    'outcome-3',
    'faze-4',
  ]);
  expect(new Set(outcomeIds(['a', 'a-2', 'a'])).size).toBe(3);
});

test('the second outcome costs 1 − p on every side; unknown stays unknown', () => {
  const quote = { price: parsePrice('0.81'), bid: parsePrice('0.8'), ask: null };
  expect(complementQuote(quote)).toEqual({ price: parsePrice('0.19'), bid: null, ask: parsePrice('0.2') });
});

test('HTML becomes plain text: paragraphs to lines, tags dropped, entities decoded once', () => {
  expect(
    htmlToText('<p>Up &amp; &lt;b&gt;down</p><p>See <a href="https://x.example">here</a><br/>&#39;now&#x27;</p>'),
  ).toBe("Up & <b>down\nSee here\n'now'");
  expect(htmlToText('a\n\n\n\n<p>b</p><p></p><p></p>c 1 < 2 > 0')).toBe('a\n\nb\n\nc 1 < 2 > 0');
  expect(htmlToText('&bogus; &#xd800; &amp;lt;')).toBe('&bogus; &#xd800; &lt;');
});

test('liquidity scores 0 for nothing, half for 1,000 USD, 1 from a million', () => {
  expect(['0', '999', '84637.8817', '999999', '50000000'].map((usd) => liquidityScore(parseUsd(usd)))).toEqual([
    0, 0.5, 0.8213, 1, 1,
  ]);
});

test('a market younger than a window had all its volume in it; an older one is not known by that', () => {
  const now = '2026-10-06T00:00:00.000Z';
  expect(youngMarketVolume(7n, '2026-10-05T00:00:00.001Z', now, 86_400_000)).toBe(7n);
  expect(youngMarketVolume(7n, '2026-10-05T00:00:00.000Z', now, 86_400_000)).toBeNull();
  expect(youngMarketVolume(7n, null, now, 86_400_000)).toBeNull();
});

test('categories are found by precedence, with the word that named them; others keep their own slug', () => {
  expect(canonicalCategory(['fed', 'politics'])).toEqual({ name: 'Politics', slug: 'politics', index: 1 });
  expect(canonicalCategory(['15-min', 'weather'])).toEqual({
    name: 'Climate and Weather',
    slug: 'climate-and-weather',
    index: 1,
  });
  expect(canonicalCategory(['exotics'])).toBeNull();
  expect(['Climate and Weather', 'Sports', ''].map(categorySlug)).toEqual(['climate-and-weather', 'sports', 'other']);
  expect(kebab('  Science & Technology ')).toBe('science-technology');
});

test('a book side is sorted best first, merged and rid of empty levels; its mirror swaps the sides', () => {
  const side = bookSide(
    [level('0.1', 1n), level('0.3', 2n), level('0.10', 4n), level('0.2', 0n)],
    [level('0.9', 1n), level('0.5', 3n)],
  );
  expect(side).toEqual({ bids: [level('0.3', 2n), level('0.1', 5n)], asks: [level('0.5', 3n), level('0.9', 1n)] });
  expect(mirrorSide(side)).toEqual({
    bids: [level('0.5', 3n), level('0.1', 1n)],
    asks: [level('0.7', 2n), level('0.9', 5n)],
  });
});
