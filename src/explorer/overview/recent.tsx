import { Columns } from '../parts/columns.tsx';
import type { Market } from '../parts/answers.ts';
import { get, useRepeated, type Loaded } from '../parts/api.ts';
import { firstPrice, payoutsOf } from '../parts/prices.ts';
import { Choice, Panel, Waiting } from '../parts/panel.tsx';
import { Price, Time } from '../parts/show.tsx';
import { setQuery, usePlace } from '../parts/url.ts';
import { TitleCell } from './title-cell.tsx';

const SLOW_MS = 30_000;
const SHOWN = 15;

const KINDS = {
  new: { title: 'New markets', status: 'open', timeOf: (market: Market) => market.created_at },
  settled: { title: 'Settled markets', status: 'settled', timeOf: (market: Market) => market.resolved_at },
} as const;
type Kind = keyof typeof KINDS;

const SQL: Record<Kind, string> = {
  new: `SELECT id, title, created_at, price
FROM v_markets
WHERE status = 'open'
ORDER BY created_at DESC NULLS LAST
LIMIT ${SHOWN}`,
  settled: `SELECT id, title, resolved_at, price AS paid
FROM v_markets
WHERE status = 'settled'
ORDER BY resolved_at DESC NULLS LAST
LIMIT ${SHOWN}`,
};

const paramsOf = (kind: Kind) => ({ status: KINDS[kind].status, sort: 'created', limit: 50 });

/** The newest markets of all platforms in one order of time; settled ones by when they settled. */
export function Recent({ listed }: { listed: Loaded<readonly string[]> }) {
  const platforms = listed.data ?? [];
  const { query } = usePlace();
  const kind: Kind = query.get('list') === 'settled' ? 'settled' : 'new';
  const { title, timeOf } = KINDS[kind];
  const asked = useRepeated(
    platforms.length === 0 ? null : `${kind} ${platforms.join(',')}`,
    (signal) =>
      Promise.all(platforms.map((provider) => get('/v1/api/markets', { provider, ...paramsOf(kind) }, signal))),
    SLOW_MS,
  );
  const rows = (asked.data ?? [])
    .flatMap(({ markets }) => markets)
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
        params: platforms.map((provider) => ({ provider, ...paramsOf(kind) })),
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
                <TitleCell platform={market.platform} id={market.id} title={market.title} />
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
      {kind === 'settled' && <p class="foot muted">Of the 50 newest settled markets of each platform.</p>}
    </Panel>
  );
}
