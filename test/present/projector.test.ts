import { expect, test } from 'vitest';
import { PLATFORMS } from '../../src/core/model.ts';
import { Projector } from '../../src/present/projector.ts';
import { silent } from '../helpers/silent-log.ts';
import { virtualClock } from '../helpers/virtual-clock.ts';

/** A projector whose PostgreSQL only counts its transactions. */
function projector(onCopied: () => void = () => {}) {
  const clock = virtualClock();
  const seen = { copies: 0, atOnce: 0, most: 0 };
  const db = {
    async transaction() {
      seen.atOnce += 1;
      seen.most = Math.max(seen.most, seen.atOnce);
      await clock.sleep(100);
      seen.atOnce -= 1;
      seen.copies += 1;
      onCopied();
    },
  };
  const stores = { clickhouse: {}, postgres: { db } } as unknown as ConstructorParameters<typeof Projector>[0];
  return { clock, seen, present: new Projector({ ...stores, clock, log: silent }) };
}

test('copies take one connection to PostgreSQL, however many wait', async () => {
  const { clock, seen, present } = projector();
  const copies = Array.from({ length: 30 }, (_, n) => present.copyNow('kalshi', [`M${n}`]));
  const dropped = present.drop('kalshi', 'M0', async () => {});
  present.changed('kalshi', ['M1']);
  await clock.advance(10_000);
  await Promise.all([...copies, dropped]);
  expect(seen).toEqual({ copies: 32, atOnce: 0, most: 1 });
});

test('while a dropped market is removed from ClickHouse, nothing is copied', async () => {
  const { clock, seen, present } = projector();
  const removed = present.drop('kalshi', 'M0', async () => {
    present.changed('kalshi', ['M0']);
    await clock.sleep(60_000);
    expect(seen.copies).toBe(1);
  });
  await clock.advance(60_200);
  await removed;
  await clock.advance(200);
  expect(seen.copies).toBe(2);
});

test('a copy that fails does not keep the next one waiting', async () => {
  let fails = true;
  const { clock, present } = projector(() => {
    if (fails) throw new Error('away');
  });
  const first = expect(present.copyNow('kalshi', ['A'])).rejects.toThrow('away');
  await clock.advance(100);
  await first;
  fails = false;
  const second = present.copyNow('kalshi', ['A']);
  await clock.advance(100);
  await second;
});

test('a market that changes at the moment at which a copy ends is copied too', async () => {
  for (let turns = 0; turns < 12; turns += 1) {
    let isFirst = true;
    const { clock, seen, present } = projector(() => {
      if (!isFirst) return;
      isFirst = false;
      let turn = Promise.resolve();
      for (let n = 0; n < turns; n += 1) turn = turn.then(() => {});
      void turn.then(() => present.changed('kalshi', ['B']));
    });
    present.changed('kalshi', ['A']);
    await clock.advance(5000);
    expect([turns, seen.copies]).toEqual([turns, 2]);
  }
});

test('changes of all platforms are copied together', async () => {
  const { clock, seen, present } = projector();
  for (const platform of PLATFORMS) present.changed(platform, ['A']);
  await clock.advance(300);
  expect(seen.copies).toBe(1);
});

test('a change after a pause is copied at once, changes that go on every two seconds', async () => {
  const { clock, seen, present } = projector();
  present.changed('kalshi', ['A']);
  await clock.advance(300);
  expect(seen.copies).toBe(1);
  for (let n = 0; n < 30; n += 1) {
    present.changed('kalshi', [`M${n}`]);
    await clock.advance(100);
  }
  expect(seen.copies).toBe(2);
  await clock.advance(2000);
  expect(seen.copies).toBe(3);
});

test('a listing waits for the copies of what it said, not for later changes, and hurries none', async () => {
  const { clock, seen, present } = projector();
  present.changed('kalshi', ['A']);
  await clock.advance(300);
  expect(seen.copies).toBe(1);
  await clock.complete(present.copied(5000), 0);
  present.changed('kalshi', ['B'], { events: ['E'] });
  const startedMs = clock.elapsed();
  const copied = present.copied(5000);
  for (let n = 0; n < 15; n += 1) {
    await clock.advance(100);
    present.changed('kalshi', [`M${n}`, 'B'], { events: ['E'] });
  }
  await clock.complete(copied, 1000);
  // Two seconds after the copy before it, which took 100 ms, as without a listing.
  expect([seen.copies, clock.elapsed() - startedMs]).toEqual([2, 2000]);
  await present.close();
});

test('an urgent listing is copied at once, whatever changes from then on', async () => {
  const { clock, seen, present } = projector();
  present.changed('kalshi', ['A']);
  await clock.advance(300);
  present.changed('kalshi', ['B']);
  const startedMs = clock.elapsed();
  const copied = present.copied(5000, { isUrgent: true });
  for (let n = 0; n < 10; n += 1) {
    await clock.advance(20);
    present.changed('kalshi', [`M${n}`]);
  }
  await clock.complete(copied, 0);
  await clock.advance(1000);
  expect([seen.copies, clock.elapsed() - startedMs]).toEqual([2, 1200]);
  await clock.complete(present.close(), 1000);
});

test('who waits for copies goes on once the one that failed is made', async () => {
  let fails = true;
  const { clock, present, seen } = projector(() => {
    if (fails) throw new Error('away');
  });
  present.changed('kalshi', ['A']);
  const copied = present.copied(5000);
  await clock.advance(300);
  fails = false;
  await clock.complete(copied, 5000);
  expect(seen.copies).toBe(2);
});

test('while PostgreSQL is away, nobody waits for copies beyond their time', async () => {
  const { clock, present } = projector(() => {
    throw new Error('away');
  });
  present.changed('kalshi', ['A']);
  const startedMs = clock.elapsed();
  await clock.complete(present.copied(5000), 6000);
  expect(clock.elapsed() - startedMs).toBe(5000);
});
