import { z } from 'zod';
import { foldText, isOneTypo, mayBegin, mayBeTypo, OPEN_WORDS, searchedText } from '../core/search-text.ts';
import type { Platform } from '../core/model.ts';
import { storeTime } from '../core/time.ts';
import { normalId } from '../markets/directory.ts';
import type { ClickHouse } from '../stores/clickhouse/client.ts';

/** What a list looks for, as parameters of its statement. */
type SearchTerms = {
  searched: boolean;
  ids: string[];
  text: string;
  asked: string[];
  /** The same as they begin words of a text: a blank before each. */
  begun: string[];
  /** Words of which each must occur. */
  exact: string[];
  /** Lists of words, of each of which one must occur. */
  any: string[][];
};

const NO_SEARCH: SearchTerms = { searched: false, ids: [], text: '', asked: [], begun: [' '], exact: [], any: [] };

const FoundRow = z.object({ asked: z.string(), found: z.array(z.string()) });

/** What a list has to look for: the words of `query`, and for each the stored words that begin with it, else those one typo away. */
export async function searchTerms(
  clickhouse: Pick<ClickHouse, 'query'>,
  list: { platform: Platform; kind: 'event' | 'series' },
  query: string | undefined,
  asOf: string,
): Promise<SearchTerms> {
  if (query === undefined) return NO_SEARCH;
  // The list of series joins initials itself; events of earlier instants are stored with a word per letter.
  const text = list.kind === 'series' ? searchedText(query) : foldText(query);
  const asked = [...new Set(text.split(' '))].filter((word) => word !== '');
  const look = async (words: readonly string[], typos: boolean): Promise<ReadonlyMap<string, string[]>> => {
    if (words.length === 0) return new Map();
    const params = { ...list, asked: words, typos, as_of: storeTime(asOf) };
    const rows = await clickhouse.query('search_words', FoundRow, params);
    return new Map(rows.map((row) => [row.asked, row.found]));
  };
  const open = asked.filter(mayBegin).slice(0, OPEN_WORDS);
  const begun = await look(open, false);
  const near = await look(
    open.filter((word) => !begun.has(word) && mayBeTypo(word)),
    true,
  );
  const meant = (word: string): string[] => {
    const typos = (near.get(word) ?? []).filter((one) => isOneTypo(word, one));
    return [...new Set([word, ...(begun.get(word) ?? typos)])];
  };
  const words = asked.map(meant);
  return {
    searched: true,
    ids: searchedIds(list.platform, query),
    text,
    asked,
    begun: asked.length === 0 ? [' '] : asked.map((word) => ` ${word}`),
    exact: words.flatMap((one) => (one.length === 1 ? one : [])),
    any: words.filter((one) => one.length > 1),
  };
}

/** The ids that a query may be, as stored; a unified id has its platform in front. */
export function searchedIds(platform: Platform, query: string): string[] {
  const own = query.trim().replace(new RegExp(`^${platform}:`, 'i'), '');
  const ids = [own, own.toLowerCase()].flatMap((id) => normalId(platform, id) ?? []);
  return [...new Set(ids)];
}
