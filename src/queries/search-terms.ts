import { z } from 'zod';
import { isOneTypo, mayBegin, mayBeTypo, OPEN_WORDS, searchedText } from '../core/search-text.ts';
import type { Platform } from '../core/model.ts';
import { storeTime } from '../core/time.ts';
import { normalId } from '../markets/directory.ts';
import type { ClickHouse } from '../stores/clickhouse/client.ts';

/** What a list of events or series looks for, as parameters of its statement. */
type SearchTerms = {
  searched: boolean;
  ids: string[];
  /** The query with which an id may begin. */
  own: string;
  text: string;
  /** The words of the query as they begin words of a text: a blank before each. */
  begun: string[];
  /** For each word of the query its spellings in a text with blanks around each word; one of them must occur. */
  words: string[][];
};

const NO_SEARCH: SearchTerms = { searched: false, ids: [], own: '', text: '', begun: [' '], words: [] };

const FoundRow = z.object({ asked: z.string(), found: z.array(z.string()) });

/** What a list has to look for: text that begins with each word of `query`, and words with one typo where no title has such a beginning. */
export async function searchTerms(
  clickhouse: Pick<ClickHouse, 'query'>,
  list: { platform: Platform; kind: 'event' | 'series' },
  query: string | undefined,
  asOf: string,
): Promise<SearchTerms> {
  if (query === undefined) return NO_SEARCH;
  const text = searchedText(query);
  const asked = [...new Set(text.split(' '))].filter((word) => word !== '');
  const look = async (words: readonly string[], typos: boolean): Promise<ReadonlyMap<string, string[]>> => {
    if (words.length === 0) return new Map();
    const params = { ...list, asked: words, typos, as_of: storeTime(asOf) };
    const rows = await clickhouse.query('search_words', FoundRow, params);
    return new Map(rows.map((row) => [row.asked, row.found]));
  };
  const open = asked.filter(mayBegin).slice(0, OPEN_WORDS);
  const mayDiffer = open.filter(mayBeTypo);
  const begun = await look(mayDiffer, false);
  const near = await look(
    mayDiffer.filter((word) => !begun.has(word)),
    true,
  );
  const spellings = (word: string): string[] => [
    open.includes(word) ? ` ${word}` : ` ${word} `,
    ...(near.get(word) ?? []).filter((one) => isOneTypo(word, one)).map((one) => ` ${one} `),
  ];
  return {
    searched: true,
    ids: searchedIds(list.platform, query),
    own: ownId(list.platform, query).toLowerCase(),
    text,
    begun: asked.length === 0 ? [' '] : asked.map((word) => ` ${word}`),
    words: asked.map(spellings),
  };
}

/** A query without the platform that a unified id has in front. */
const ownId = (platform: Platform, query: string): string => query.trim().replace(new RegExp(`^${platform}:`, 'i'), '');

/** The ids that a query may be, as stored; a unified id has its platform in front. */
export function searchedIds(platform: Platform, query: string): string[] {
  const own = ownId(platform, query);
  const ids = [own, own.toLowerCase()].flatMap((id) => normalId(platform, id) ?? []);
  return [...new Set(ids)];
}
