import { Columns } from '../parts/columns.tsx';
import type { Market } from '../parts/answers.ts';
import { get, useRepeated } from '../parts/api.ts';
import { firstPrice, payoutsOf } from '../parts/prices.ts';
import { Choice, Panel, Waiting } from '../parts/panel.tsx';
import { PlatformName, Price, Time } from '../parts/show.tsx';
import { marketAddress, setQuery, usePlace } from '../parts/url.ts';

const SLOW_MS = 30_000;
const SHOWN = 15;

const KINDS = {
  new: { title: 'New markets', status: 'open', timeOf: (market: Market) => market.created_at },
  settled: { title: 'Settled markets', status: 'settled', timeOf: (market: Market) => market.resolved_at },
} as const;
type Kind = keyof typeof KINDS;

const paramsOf = (kind: Kind) => ({ status: KINDS[kind].status, sort: 'created', limit: 50 });

/** The newest markets of all platforms in one order of time; settled ones by when they settled. */
export function Recent({ platforms }: { platforms: readonly string[] }) {
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
      query={{ path: '/v1/api/markets', params: { provider: platforms[0], ...paramsOf(kind) } }}
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
                <td class="cut">
                  <PlatformName platform={market.platform} />{' '}
                  <a href={marketAddress(market.id)} title={market.title}>
                    <bdi>{market.title}</bdi>
                  </a>
                </td>
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
