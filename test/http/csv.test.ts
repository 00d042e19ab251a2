import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { csvText } from '../../src/http/csv.ts';
import { flatColumns } from '../../src/http/flat-rows.ts';

test.each([
  ['=HYPERLINK("http://x","y")', `"'=HYPERLINK(""http://x"",""y"")"`],
  ["=cmd|'/c calc'!A1", "'=cmd|'/c calc'!A1"],
  ['+1+1', "'+1+1"],
  ['-1+1', "'-1+1"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['\t=1', "'\t=1"],
  ['\r=1', `"'\r=1"`],
  ['-', "'-"],
])('text that a spreadsheet would run, %j, is written as text', async (value, written) => {
  expect(await text(csvText([{ title: value }], flatColumns(z.object({ title: z.string() }))))).toBe(
    `title\r\n${written}\r\n`,
  );
});

test.each([-0.25, '-0.25', '+3', '-1e-7', 12, '0.57', 'Will it be -5 °C?', 'a=b', '', null])(
  '%j stays as it is',
  async (value) => {
    expect(await text(csvText([{ value }], flatColumns(z.object({ value: z.unknown() }))))).toBe(
      `value\r\n${value ?? ''}\r\n`,
    );
  },
);

/** A market whose record by outcome has another order than its outcomes. */
const marketOf = (first: string, price: number) => ({
  outcomes: [{ id: first }, { id: 'x' }],
  current_prices: { x: { price: 0 }, [first]: { price } },
});

test('the outcomes of a nested market have columns with its name before them', async () => {
  const market = z.object({
    outcomes: z.array(z.object({ id: z.string() })),
    current_prices: z.record(z.string(), z.object({ price: z.number().nullable() })),
  });
  const columns = flatColumns(z.object({ a: market, b: market.nullable() })).filter(
    ({ name }) => !name.endsWith('outcomes'),
  );
  expect(
    await text(
      csvText(
        [
          { a: marketOf('up', 0.4), b: marketOf('down', 0.7) },
          { a: marketOf('up', 0.5), b: null },
        ],
        columns,
      ),
    ),
  ).toBe('a_yes_price,a_no_price,b_yes_price,b_no_price\r\n0.4,0,0.7,0\r\n0.5,0,,\r\n');
});

test('prices by outcome of which one may be unknown have a column for each outcome', async () => {
  const columns = flatColumns(z.object({ id: z.string(), prices: z.record(z.string(), z.number().nullable()) }));
  const rows = [
    { id: 'a', prices: { yes: 0.4, no: 0.6 } },
    { id: 'b', prices: { up: 0.3, down: null } },
    { id: 'c', prices: {} },
  ];
  expect(await text(csvText(rows, columns))).toBe('id,yes_prices,no_prices\r\na,0.4,0.6\r\nb,0.3,\r\nc,,\r\n');
});
