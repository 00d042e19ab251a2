import { afterAll, beforeAll, expect, test } from 'vitest';
import { STATEMENTS, type Value } from '../helpers/analyst-statements.ts';
import { storeAnalystWorld } from '../helpers/analyst-world.ts';
import { SqlPortUnderTest } from '../helpers/sql-port.ts';

let port: SqlPortUnderTest;

beforeAll(async () => {
  port = await SqlPortUnderTest.start(1000, storeAnalystWorld);
});
afterAll(() => port.close());

test.for(STATEMENTS)('$asks', async ({ sql, expected }) => {
  const answer = await port.ask(sql, { default_format: 'JSONCompact', output_format_json_quote_decimals: '0' });
  const text = await answer.text();
  expect(answer.status, text).toBe(200);
  const { data } = JSON.parse(text) as { data: Value[][] };
  const wanted = expected();
  expect(wanted.length).toBeGreaterThan(0);
  expect(data.map((row) => row.length)).toEqual(wanted.map((row) => row.length));
  for (const [n, row] of wanted.entries())
    for (const [column, value] of row.entries()) {
      const got = data[n]?.[column];
      if (typeof value === 'number') expect(Number(got), `row ${n}, ${sql}`).toBeCloseTo(value, 8);
      else if (value === null) expect(got).toBeNull();
      else expect(typeof got === 'number' ? String(got) : got).toBe(value);
    }
});

test('a quotient that decimals do not have says how to get it', async () => {
  const answer = await port.ask('SELECT notional / price FROM v_trades');
  expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining('notional / toFloat64(price)')]);
  expect((await port.ask('SELECT notional / toFloat64(price) FROM v_trades WHERE price > 0')).status).toBe(200);
});

test('a function of statistics that takes no decimals says what it takes', async () => {
  const answer = await port.ask('SELECT avgWeighted(price, size) FROM v_trades');
  expect([answer.status, await answer.text()]).toEqual([
    400,
    expect.stringContaining('avgWeighted(toFloat64(price), …)'),
  ]);
});
