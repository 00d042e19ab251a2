import { expect, test } from 'vitest';
import { everyPage, firstPages } from '../../src/platforms/list-pages.ts';

/** A list whose page at a cursor has this next cursor. */
const listOf = (nexts: Record<string, string>) => {
  const asked: string[] = [];
  const read = async (cursor: string) => {
    asked.push(cursor);
    return { next: nexts[cursor] ?? '' };
  };
  return { read, asked };
};

async function readAll(pages: AsyncGenerator<unknown>): Promise<number> {
  let count = 0;
  for await (const _ of pages) count += 1;
  return count;
}

test('a list ends with an empty cursor only; a reader that has enough asks for no further page', async () => {
  const list = listOf({ '': 'a', a: 'b' });
  expect(await readAll(everyPage('kalshi', '/list', list.read))).toBe(3);
  expect(list.asked).toEqual(['', 'a', 'b']);
  const partial = listOf({ '': 'a', a: 'b' });
  for await (const page of everyPage('kalshi', '/list', partial.read)) if (page.next === 'b') break;
  expect(partial.asked).toEqual(['', 'a']);
});

test('a cursor that repeats and a list that is too long are errors that name the route', async () => {
  const error = { kind: 'bad_answer', detail: '/list: the cursor does not come to an end' };
  const endless: Record<string, string>[] = [
    { '': 'a', a: 'a' },
    { '': 'a', a: 'b', b: 'c', c: 'a' },
  ];
  for (const nexts of endless) {
    const list = listOf(nexts);
    await expect(readAll(everyPage('kalshi', '/list', list.read, 100))).rejects.toMatchObject(error);
    expect(list.asked).toEqual(Object.keys(nexts));
  }
  const long = listOf({ '': 'a', a: 'b', b: 'c' });
  await expect(readAll(everyPage('kalshi', '/list', long.read, 2))).rejects.toMatchObject(error);
  expect(long.asked).toEqual(['', 'a']);
});

test('the first pages say whether the list has more, has ended, or repeats itself', async () => {
  const lists: Record<string, string>[] = [{ '': 'a' }, { '': 'a', a: 'a' }, { '': 'a', a: 'b' }];
  const ends = lists.map((nexts) => firstPages(2, listOf(nexts).read));
  expect((await Promise.all(ends)).map(({ pages, end }) => [pages.length, end])).toEqual([
    [2, 'last'],
    [2, 'repeated'],
    [2, 'more'],
  ]);
});
