import { Columns } from '../parts/columns.tsx';
import type { Market } from '../parts/answers.ts';
import { SLOW_MS, useApi } from '../parts/api.ts';
import { firstPrice, payoutsOf } from '../parts/prices.ts';
import { Choice, Panel, Waiting } from '../parts/panel.tsx';
import { SEARCH } from '../parts/lists/filters.tsx';
import { Price, Time } from '../parts/show.tsx';
import { LISTED } from '../parts/statements.ts';
import { setQuery, usePlace } from '../parts/url.ts';
import { TitleCell, titlesApart } from './title-cell.tsx';

const SHOWN = 15;

const KINDS = {
  new: { title: 'New markets', asked: { status: 'open', sort: 'created' }, timeOf: (of: Market) => of.created_at },
  settled: {
    title: 'Settled markets',
    asked: { status: 'settled', sort: 'resolved' },
    timeOf: (of: Market) => of.resolved_at,
  },
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

/** The newest markets of all platforms, or those settled last. */
export function Recent() {
  const { query } = usePlace();
  const kind: Kind = query.get('list') === 'settled' ? 'settled' : 'new';
  const { title, timeOf } = KINDS[kind];
  const params = { types: 'markets', ...KINDS[kind].asked, limit: SHOWN };
  const asked = useApi(SEARCH, params, SLOW_MS);
  const rows = (asked.data?.results ?? []).flatMap((found) => {
    const at = found.type === 'market' ? timeOf(found.market) : null;
    return found.type === 'market' && at !== null ? [{ market: found.market, at }] : [];
  });
  const apart = titlesApart(rows.map(({ market }) => market));
  return (
    <Panel
      title={title}
      query={{ path: SEARCH, params, sql: SQL[kind] }}
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
        <Waiting of={asked} empty="No matching market is stored yet." />
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
                <TitleCell {...market} apart={apart.get(market.id)} />
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
