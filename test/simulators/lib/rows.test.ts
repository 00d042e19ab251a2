import { expect, test } from 'vitest';
import { Queue } from './kept.ts';
import { Rows } from './rows.ts';

/** Rows [time, value]: `settled` of them stay, `later` come behind, `gone` of these are forgotten. */
function rowsOf(settled: number, later: number, gone: number): Rows {
  const rows = new Rows(2, { every: 10, most: 3 });
  for (let at = 0; at < settled + later; at += 1) {
    if (at === settled) rows.settle();
    rows.push(at, at * 100);
  }
  for (let times = 0; times < gone; times += 1) rows.forget();
  return rows;
}

test('rows keep their numbers when others are forgotten', () => {
  const rows = rowsOf(5, 95, 60);
  expect(rows.length).toBe(100);
  expect(rows.size).toBe(40);
  const kept = [...rows.kept()];
  expect(kept).toEqual([0, 1, 2, 3, 4, ...Array.from({ length: 35 }, (_, at) => 65 + at)]);
  for (const index of kept) expect([rows.cell(index, 0), rows.cell(index, 1)]).toEqual([index, index * 100]);
  expect(rows.push(100, 0)).toBe(100);
});

test('walking down passes over what is forgotten', () => {
  const rows = rowsOf(2, 6, 3);
  const walk: number[] = [];
  for (let index = rows.before(rows.length); index >= 0; index = rows.before(index)) walk.push(index);
  expect(walk).toEqual([7, 6, 5, 1, 0]);
});

test('the last row of each stretch of time is left of forgotten ones, of so many stretches', () => {
  const rows = rowsOf(0, 100, 73);
  expect(rows.forgotten).toEqual({ from: 0, to: 72 });
  expect(rows.countUpTo(72)).toBe(73);
  expect(rows.countUpTo(71)).toBe(70);
  expect(rows.cell(69, 1)).toBe(6900);
  expect(rows.countUpTo(58)).toBe(0);
  expect(rows.countUpTo(80)).toBe(81);
  expect(() => rows.cell(68, 1)).toThrow('row 68 of 100 is not there');
});

test('the newest row is known for ever', () => {
  const rows = rowsOf(0, 3, 3);
  expect(rows.size).toBe(0);
  expect(rows.column(1).last(-1)).toBe(200);
  expect(new Rows(1).last(0, -1)).toBe(-1);
});

test('a row that never was is an error', () => {
  expect(() => rowsOf(2, 2, 1).cell(4, 0)).toThrow('row 4 of 4 is not there');
  expect(() => rowsOf(2, 2, 1).cell(-1, 0)).toThrow('row -1 of 4 is not there');
});

test('a queue gives back in order what it took', () => {
  const queue = new Queue<number>();
  const given: unknown[] = [];
  for (let item = 0; item < 50; item += 1) {
    queue.push(item);
    if (item % 3 > 0) given.push(queue.shift());
  }
  while (queue.length > 0) given.push(queue.shift());
  expect(given).toEqual(Array.from({ length: 50 }, (_, item) => item));
  expect([queue.first, queue.shift()]).toEqual([undefined, undefined]);
});
