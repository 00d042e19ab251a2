import { Columns } from '../parts/columns.tsx';
import type { Market } from '../parts/answers.ts';
import { get, useRepeated, type Loaded, type Params } from '../parts/api.ts';
import { firstPrice, payoutsOf } from '../parts/prices.ts';
import { Choice, Panel, Waiting } from '../parts/panel.tsx';
import { Price, Time } from '../parts/show.tsx';
import { LISTED } from '../parts/statements.ts';
import { byPlatform, setQuery, usePlace } from '../parts/url.ts';
import { runSql } from '../sql/run.ts';
import { TitleCell } from './title-cell.tsx';

const SLOW_MS = 30_000;
const SHOWN = 15;

const KINDS = {
  new: { title: 'New markets', timeOf: (market: Market) => market.created_at },
  settled: { title: 'Settled markets', timeOf: (market: Market) => market.resolved_at },
} as const;
type Kind = keyof typeof KINDS;

const SQL: Record<Kind, string> = {
  new: `SELECT id, title, created_at, price
FROM v_markets
WHERE status = 'open' AND ${LISTED}
ORDER BY created_at DESC NULLS LAST
LIMIT ${SHOWN}`,
  settled: `SELECT id, title, resolved_at, price AS paid
FROM v_markets
WHERE status = 'settled' AND resolved_at IS NOT NULL AND ${LISTED}
ORDER BY resolved_at DESC, id
LIMIT ${SHOWN}`,
};

/** The markets of a list, and the parameters of the requests that returned them. */
interface Found {
  markets: Market[];
  params: Params[];
}

async function newest(platforms: readonly string[], signal: AbortSignal): Promise<Found> {
  const params = platforms.map((provider) => ({ provider, status: 'open', sort: 'created', limit: SHOWN }));
  return found(params, signal);
}

/** The API cannot sort by settlement time: SQL finds the ids, the API returns the markets with their payouts. */
async function settledLast(signal: AbortSignal): Promise<Found> {
  const { rows } = await runSql(SQL.settled, signal);
  const ids = rows.map(([id]) => String(id));
  const own = byPlatform(ids);
  const params = [...own].map(([provider, ids]) => ({ provider, market_ids: ids.join(','), limit: ids.length }));
  const { markets } = await found(params, signal);
  return { params, markets: markets.toSorted((a, b) => ids.indexOf(a.id) - ids.indexOf(b.id)) };
}

async function found(params: Params[], signal: AbortSignal): Promise<Found> {
  const answers = await Promise.all(params.map((one) => get('/v1/api/markets', one, signal)));
  return { params, markets: answers.flatMap(({ markets }) => markets) };
}

/** The newest markets of all platforms, merged by time, or those settled last. */
export function Recent({ listed }: { listed: Loaded<readonly string[]> }) {
  const platforms = listed.data ?? [];
  const { query } = usePlace();
  const kind: Kind = query.get('list') === 'settled' ? 'settled' : 'new';
  const { title, timeOf } = KINDS[kind];
  const asked = useRepeated(
    platforms.length === 0 ? null : `${kind} ${platforms.join(',')}`,
    (signal) => (kind === 'new' ? newest(platforms, signal) : settledLast(signal)),
    SLOW_MS,
  );
  const rows = (asked.data?.markets ?? [])
    .flatMap((market) => {
      const at = timeOf(market);
      return at === null ? [] : [{ market, at }];
    })
    .toSorted((a, b) => b.at.localeCompare(a.at))
    .slice(0, SHOWN);
  return (
    <Panel
      title={title}
      query={{
        path: '/v1/api/markets',
        params: asked.data?.params ?? [],
        sql: SQL[kind],
      }}
      of={asked}
      aside={
        <Choice
          label="List"
          value={kind}
          options={[
            ['new', 'New'],
            ['settled', 'Settled'],
          ]}
          onChange={(value) => setQuery({ list: value === 'settled' ? value : '' })}
        />
      }
    >
      {rows.length === 0 ? (
        <Waiting of={platforms.length === 0 ? listed : asked} empty="No matching market is stored yet." />
      ) : (
        <table>
          <Columns
            of={[
              'Market',
              [kind === 'new' ? 'Created' : 'Settled', 'number'],
              [kind === 'new' ? 'Price' : 'Paid', 'number'],
            ]}
          />
          <tbody>
            {rows.map(({ market, at }) => (
              <tr key={market.id}>
                <TitleCell platform={market.platform} id={market.id} title={market.title} metadata={market.metadata} />
                <td class="number muted">
                  <Time at={at} relative />
                </td>
                <td class="number">
                  <Price
                    value={kind === 'new' ? firstPrice(market) : payoutsOf(market)[market.outcomes[0]?.id ?? '']}
                  />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Panel>
  );
}
