import { Columns } from '../parts/columns.tsx';
import type { Market } from '../parts/answers.ts';
import { useApi } from '../parts/api.ts';
import { Choice, Panel } from '../parts/panel.tsx';
import { PlatformName, Price, Time } from '../parts/show.tsx';
import { marketAddress, setQuery, usePlace } from '../parts/url.ts';

const SLOW_MS = 30_000;

/** Markets that came last, of each platform. */
export function Recent({ platforms }: { platforms: readonly string[] }) {
  const { query } = usePlace();
  const kind = query.get('list') === 'settled' ? 'settled' : 'new';
  return (
    <Panel
      title={kind === 'new' ? 'New markets' : 'Settled markets'}
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
      <table>
        <Columns
          of={[
            'Market',
            [kind === 'new' ? 'Created' : 'Settled', 'number'],
            [kind === 'new' ? 'Price' : 'Paid', 'number'],
          ]}
        />
        {platforms.map((platform) => (
          <RecentOf key={platform} platform={platform} kind={kind} />
        ))}
      </table>
    </Panel>
  );
}

const paramsOf = (kind: 'new' | 'settled') =>
  kind === 'new' ? { status: 'open', sort: 'created', limit: 5 } : { status: 'settled', sort: 'created', limit: 5 };

const priceOf = (market: Market): number | null | undefined =>
  market.current_prices[market.outcomes[0]?.id ?? '']?.price;

function RecentOf({ platform, kind }: { platform: string; kind: 'new' | 'settled' }) {
  const asked = useApi('/v1/api/markets', { provider: platform, ...paramsOf(kind) }, SLOW_MS);
  return (
    <tbody>
      {(asked.data?.markets ?? []).map((market) => (
        <tr key={market.id}>
          <td class="cut">
            <PlatformName platform={platform} />{' '}
            <a href={marketAddress(market.id)} title={market.title}>
              <bdi>{market.title}</bdi>
            </a>
          </td>
          <td class="number muted">
            <Time at={kind === 'new' ? market.created_at : market.resolved_at} relative />
          </td>
          <td class="number">
            <Price value={priceOf(market)} />
          </td>
        </tr>
      ))}
    </tbody>
  );
}
