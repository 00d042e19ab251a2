import { sql, type SQL } from 'drizzle-orm';
import type { Platform } from '../core/model.ts';
import type { Postgres } from '../stores/postgres/client.ts';
import { rowsOf } from '../stores/postgres/json-row.ts';
import {
  MARKET,
  type PresentEvent,
  type PresentMarket,
  type PresentSeries,
  toPresentEvent,
  toPresentMarket,
} from './read.ts';
import { byPlace, countOf, type ListKind, type ListAsked, ofPlatforms, pageOf, type Versions } from './places.ts';
import { storeKey } from './rows.ts';
import { goesByClass, isTypo, searchedCount, searchedPage, searchTables } from './search.ts';

interface ListFound {
  versions: Versions;
  /** The number of matching rows; 0 on later pages, which do not count them. */
  total: number;
  /** One row more than the limit, if there is another page. */
  rows: FoundRow[];
  /** Whether the rows were found without the last word of the search. */
  isLastLeftOut: boolean;
}

export interface FoundRow {
  platform: Platform;
  place: string;
  key: string;
  market: PresentMarket | null;
  event: PresentEvent | null;
  series: PresentSeries | null;
  /** How a search found the row; only in searches in the order `match`. */
  match: Match | undefined;
}

/** By the class of a row: words of its title are a better class than words of its description. */
const MATCHES = ['words', 'words', 'prefix', 'id'] as const;
type Match = (typeof MATCHES)[number] | 'typo';

/** The columns and tables read for the rows `r` of a page. */
const READ: Record<ListKind, SQL> = {
  market: sql`
    ${MARKET}, m.platform
    FROM listed_page AS r LEFT JOIN present_markets AS m USING (key) LEFT JOIN present_states AS s USING (key)`,
  event: sql`
    m.platform, m.info, f.*, ARRAY(
      SELECT c.platform_id FROM present_ranks AS o JOIN present_markets AS c USING (key)
      WHERE o.platform = m.platform AND o.event_id = m.id AND o.hidden = f.hidden ORDER BY length(c.platform_id), c.platform_id COLLATE "C"
    ) AS ids
    FROM listed_page AS r LEFT JOIN present_events AS m USING (key) LEFT JOIN LATERAL present_event_sums(m.platform, m.id) AS f ON true`,
  series: sql`
    m.platform, m.info, c.events, c.open_events
    FROM listed_page AS r LEFT JOIN present_series AS m USING (key) LEFT JOIN LATERAL (
      SELECT count(*) AS events, count(*) FILTER (WHERE o.status = 'open') AS open_events
      FROM present_events AS e JOIN present_event_ranks AS o USING (key)
      WHERE e.platform = m.platform AND e.series_id = m.id AND o.hidden = 0
    ) AS c ON true`,
};

/**
 * A page of a list in the asked order; null if former rows of its version are no longer kept. One statement. Rows that changed since
 * the version of `after` count as they were then.
 */
export async function listPresent({ db }: Pick<Postgres, 'db'>, asked: ListAsked): Promise<ListFound | null> {
  const { kind, platforms, after, search } = asked;
  const found = rowsOf(
    await db.execute(sql`
      WITH ${search ? sql`${searchTables(asked, search)},` : sql``}
        listed_page AS (${search ? searchedPage(asked) : pageOf(asked)}),
        copies AS (SELECT jsonb_object_agg(platform, version) AS versions, jsonb_object_agg(platform, former_from) AS former
          FROM present_platforms WHERE ${ofPlatforms(asked)})
      SELECT v.versions::text, v.former::text, ${after ? sql`0` : search ? searchedCount : countOf(asked)} AS total, d.*
      FROM copies AS v LEFT JOIN (
        SELECT r.place, r.key, ${search ? sql`r.class, ${isTypo(asked)} AS is_typo, (SELECT is_left_out FROM ending)` : sql`0 AS class, false AS is_typo, false`} AS is_last_left_out, ${READ[kind]}
      ) AS d ON true
      ORDER BY ${byPlace(asked, sql`d.`)}`),
  );
  const [first] = found;
  const versions = JSON.parse(String(first?.['versions'] ?? '{}')) as Versions;
  const former = JSON.parse(String(first?.['former'] ?? '{}')) as Versions;
  if (after && platforms.some((platform) => (after.versions[platform] ?? 0) < (former[platform] ?? 0))) return null;
  return {
    versions: after?.versions ?? versions,
    total: Number(first?.['total'] ?? 0),
    isLastLeftOut: first?.['is_last_left_out'] === true,
    rows: found.flatMap((row) => (row['key'] == null ? [] : foundRow(row, asked))),
  };
}

const foundRow = (row: Record<string, unknown>, { kind, order, search }: ListAsked): FoundRow => ({
  platform: row['platform'] as Platform,
  place: String(row['place']),
  key: storeKey(String(row['key'])),
  market: kind === 'market' && row['state'] !== null ? toPresentMarket(row) : null,
  event: kind === 'event' && row['info'] !== null && row['hidden'] !== null ? toPresentEvent(row) : null,
  series:
    kind === 'series' && row['info'] !== null
      ? { info: row['info'] as string, events: Number(row['events']), openEvents: Number(row['open_events']) }
      : null,
  match:
    search && goesByClass({ order })
      ? row['is_typo'] === true
        ? 'typo'
        : (MATCHES[Number(row['class'])] ?? 'words')
      : undefined,
});
