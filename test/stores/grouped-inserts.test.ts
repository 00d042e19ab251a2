import { expect, test } from 'vitest';
import { StoreError, type ClickHouse } from '../../src/stores/clickhouse/client.ts';
import { groupedInserts } from '../../src/stores/clickhouse/grouped-inserts.ts';
import { virtualClock } from '../helpers/virtual-clock.ts';

/** A store that notes its inserts; `refuse` names a row that it rejects. */
function store(refuse?: string) {
  const clock = virtualClock();
  const inserts: string[] = [];
  const insert = async (table: string, rows: readonly object[] | Buffer, { token = '' } = {}): Promise<void> => {
    const text = String(rows).trim();
    inserts.push(`${table} ${text.replaceAll('\n', ' ')}${token && ` under ${token}`}`);
    if (refuse !== undefined && text.includes(refuse)) throw new StoreError('failed', { code: '27' });
  };
  return { clock, inserts, grouped: groupedInserts({ insert } as unknown as ClickHouse, clock) };
}
const row = (n: number): Buffer => Buffer.from(`${n}\n`);
/** Uses up the inserts that may follow each other at once. */
async function busy({ clock, inserts, grouped }: ReturnType<typeof store>): Promise<void> {
  for (let n = 0; n < 10; n += 1) {
    const stored = grouped.insert('t', row(n));
    await clock.advance(1);
    await stored;
  }
  inserts.length = 0;
}

test('rows that callers insert within two seconds are one insert, which all of them wait for', async () => {
  const it = store();
  await busy(it);
  const ended: number[] = [];
  for (const n of [1, 2, 3]) void it.grouped.insert('t', row(n)).then(() => ended.push(n));
  await it.clock.advance(1900);
  expect([it.inserts, ended]).toEqual([[], []]);
  await it.clock.advance(100);
  expect([it.inserts, ended]).toEqual([['t 1 2 3'], [1, 2, 3]]);
});

test('a table that was quiet is written at once, and tables do not wait for each other', async () => {
  const it = store();
  await busy(it);
  void it.grouped.insert('t', row(1));
  void it.grouped.insert('u', [{ n: 2 }]);
  await it.clock.advance(1);
  expect(it.inserts).toEqual(['u {"n":2}']);
  await it.clock.advance(2000);
  expect(it.inserts).toEqual(['u {"n":2}', 't 1']);
});

test('a large group does not wait', async () => {
  const it = store();
  await busy(it);
  await it.grouped.insert('t', Buffer.alloc(64 * 1024, ' '));
  expect(it.inserts).toHaveLength(1);
});

test('an urgent insert is sent at once, with the rows that wait', async () => {
  const it = store();
  await busy(it);
  const waiting = it.grouped.insert('t', row(1));
  await it.grouped.insert('t', row(2), { isUrgent: true });
  await waiting;
  expect(it.inserts).toEqual(['t 1 2']);
});

test('an insert under a token is sent alone and at once, no rows are no insert', async () => {
  const it = store();
  await busy(it);
  await it.grouped.insert('t', row(1), { token: 'a' });
  await it.grouped.insert('t', []);
  await it.grouped.insert('t', Buffer.alloc(0));
  expect(it.inserts).toEqual(['t 1 under a']);
});

test('of a group that the store refuses only the caller of the bad row fails', async () => {
  const it = store('bad');
  await busy(it);
  const good = it.grouped.insert('t', row(1));
  const bad = it.grouped.insert('t', Buffer.from('bad\n'));
  const outcome = Promise.allSettled([good, bad]);
  await it.clock.advance(2000);
  expect((await outcome).map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
  expect(it.inserts).toEqual(['t 1 bad', 't 1', 't bad']);
});

test('every caller of a group whose outcome is unknown fails', async () => {
  const clock = virtualClock();
  let attempts = 0;
  const insert = async (): Promise<void> => {
    attempts += 1;
    throw new StoreError('unreachable');
  };
  const grouped = groupedInserts({ insert } as unknown as ClickHouse, clock);
  const outcome = Promise.allSettled([grouped.insert('t', row(1)), grouped.insert('t', row(2))]);
  await clock.advance(1);
  expect((await outcome).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(attempts).toBe(1);
});

test('rows that come while their table is written wait for the end, and then are one insert', async () => {
  const clock = virtualClock();
  const inserts: string[] = [];
  const ends: (() => void)[] = [];
  const insert = (_table: string, rows: Buffer): Promise<void> => {
    inserts.push(String(rows).trim().replaceAll('\n', ' '));
    return new Promise((end) => ends.push(end));
  };
  const grouped = groupedInserts({ insert } as unknown as ClickHouse, clock);
  for (const n of [1, 2, 3]) {
    void grouped.insert('t', row(n));
    await clock.advance(1);
  }
  expect(inserts).toEqual(['1']);
  void grouped.insert('t', row(4), { isUrgent: true });
  expect(inserts).toEqual(['1', '2 3 4']);
  void grouped.insert('t', row(5));
  for (const end of ends) end();
  await clock.advance(1);
  expect(inserts).toEqual(['1', '2 3 4', '5']);
});
