import { describe, expect, test } from 'vitest';
import { createKalshiData } from '../../../src/platforms/kalshi/data.ts';
import { SETTINGS, cannedHttp, collect, readContext } from '../../fixtures/canned-http.ts';
import { eventRow, marketRow, seriesRow } from '../../fixtures/kalshi/rows.ts';

const EVENT = 'KXOTTERCUP-26OCT08REDBLU';
interface Named {
  title: string;
  names: string[];
}
const rowsOf = ({ title, names }: Partial<Named> & Pick<Named, 'names'>) =>
  names.map((yes_sub_title, n) => marketRow({ ticker: `${EVENT}-M${n}`, event_ticker: EVENT, title, yes_sub_title }));

/** Titles by ticker, as swept from pages of these rows; `listed` is what the event lists of its markets, null if it is unknown. */
async function titles(pages: object[][], listed: readonly unknown[] | null, event: object = {}): Promise<string[]> {
  const http = cannedHttp((path, query) => {
    if (path === '/events') {
      return { events: listed ? [eventRow({ markets: listed, ...event })] : [], cursor: '' };
    }
    if (path.startsWith('/events/')) return undefined;
    if (path !== '/markets') return { series: seriesRow() };
    const page = Number(query.get('cursor') ?? 0);
    return { markets: pages[page], cursor: page + 1 < pages.length ? String(page + 1) : '' };
  });
  const data = createKalshiData({ http, settings: SETTINGS, now: () => Date.UTC(2026, 9, 6) });
  const swept = await collect(data.sweep({ kind: 'open' }, readContext()));
  return swept.flatMap(({ markets }) => markets.map(({ info }) => info.title));
}

const appended = ({ title, names }: Named) => names.map((name) => `${title} (${name})`);

const GAMES: Named[] = [
  { title: 'Otter Creek at Pine Hill Winner?', names: ['Pine Hill', 'Otter Creek'] },
  { title: 'Otter Creek vs. Pine Hill Winner?', names: ['Pine Hill', 'Otter Creek'] },
  { title: 'Otter Creek @ Pine Hill', names: ['Pine Hill', 'Otter Creek'] },
  { title: 'Will Otter Corp or Pine Corp list first?', names: ['Otter Corp', 'Pine Corp'] },
  { title: 'Who wins: Ōtter, Pine or Élan?', names: ['Ótter', 'Pine', 'Elan'] },
  { title: 'Pine/Otter Winner', names: ['Pine', 'Otter'] },
  { title: 'Pine-Otter final: who wins?', names: ['Pine', 'Otter'] },
];
const OTHERS: Named[] = [
  { title: 'How many cuts in 2026?', names: ['2', '6', '20'] },
  { title: 'Will the rate be 2.5% or 4.25% in May?', names: ['2', '5%', '4'] },
  { title: 'Who will win the Wisconsin primary?', names: ['Wis', 'Prim', 'Sin'] },
  { title: 'Does Anne-Marie win?', names: ['Anne', 'Marie'] },
  { title: "Will O'Pine resign?", names: ['O', 'Pine'] },
  { title: 'Next leader of Otterland?', names: ['Yes', 'No', 'Otter'] },
];

describe('titles of the markets of a Kalshi event', () => {
  test.each([...GAMES, ...OTHERS])('$title: each market has its own name appended, on any page', async (event) => {
    const rows = rowsOf(event);
    expect(await titles([rows], rows)).toEqual(appended(event));
    expect(
      await titles(
        rows.map((row) => [row]),
        rows,
      ),
    ).toEqual(appended(event));
    // Nothing but the row is known: its event cannot be read, and the siblings come on other pages.
    expect(
      await titles(
        rows.map((row) => [row]),
        null,
      ),
    ).toEqual(appended(event));
  });

  test('a market without a name differs from one whose name the same title has', async () => {
    const rows = rowsOf({ title: 'Will **Miami** win?', names: ['Miami', ''] });
    expect(await titles([rows], rows)).toEqual(['Will Miami win? (M0)', 'Will Miami win? (M1)']);
  });

  test('names joined by other words are told apart by the list of the event, or by the page', async () => {
    const event = { title: 'Will Otter Creek beat Pine Hill?', names: ['Otter Creek', 'Pine Hill'] };
    const rows = rowsOf(event);
    expect(
      await titles(
        rows.map((row) => [row]),
        rows,
      ),
    ).toEqual(appended(event));
    expect(await titles([rows], null)).toEqual(appended(event));
  });

  test('a title that has the name of its market and of no sibling stays as it is', async () => {
    const names = ['New York', 'New York K', 'Ötter City', '4.25%', 'Pine'];
    const asked = ['New York', 'New York K', 'Otter city', '4.25%', 'PINE’s captain'].map(
      (name) => `Will ${name} win?`,
    );
    const rows = asked.flatMap((title, n) => rowsOf({ title, names }).slice(n, n + 1));
    expect(await titles([rows], rows)).toEqual(asked);
    expect(
      await titles(
        rows.map((row) => [row]),
        null,
      ),
    ).toEqual(asked);
  });

  test('a name that contains that of a sibling names no sibling; the shorter name is not named by the longer one', async () => {
    const event = { title: 'Will New York K win?', names: ['New York K', 'New York'] };
    const rows = rowsOf(event);
    expect(await titles([rows], rows)).toEqual(['Will New York K win?', 'Will New York K win? (New York)']);
  });

  test('markets that share title and name differ by the end of their tickers', async () => {
    const rows = rowsOf({ title: 'Will it rain?', names: ['Yes', 'Yes', ''] });
    expect(await titles([rows], rows)).toEqual(['Will it rain? (Yes, M0)', 'Will it rain? (Yes, M1)', 'Will it rain?']);
  });

  test('and by all of their tickers where these end alike', async () => {
    const rows = ['A-1', 'B-1', 'B-2'].map((end) =>
      marketRow({ ticker: `${EVENT}-${end}`, event_ticker: EVENT, title: 'Will it rain?', yes_sub_title: 'Pine' }),
    );
    const named = [`${EVENT}-A-1`, `${EVENT}-B-1`, '2'].map((end) => `Will it rain? (Pine, ${end})`);
    expect(await titles([rows], rows)).toEqual(named);
  });

  test('a market without a title takes that of its event with its own name, else its name, else its ticker', async () => {
    const rows = rowsOf({ names: ['Otter Creek', 'Pine Hill', ''] });
    expect(await titles([rows], rows, { title: 'Otter Creek at Pine Hill' })).toEqual([
      'Otter Creek at Pine Hill (Otter Creek)',
      'Otter Creek at Pine Hill (Pine Hill)',
      'Otter Creek at Pine Hill',
    ]);
    expect(await titles([rows], null)).toEqual(['Otter Creek', 'Pine Hill', `${EVENT}-M2`]);
  });

  test('an odd market in the list of its event takes nothing from the event or from its siblings', async () => {
    const rows = rowsOf(GAMES[0]!);
    const listed = [7, null, { ticker: 5 }, { ...rows[0], title: 12 }, rows[1]];
    expect(await titles([rows], listed)).toEqual(appended(GAMES[0]!));
  });
});
