import { Columns } from '../parts/columns.tsx';
import type { Market } from '../parts/answers.ts';
import { SLOW_MS, useApi } from '../parts/api.ts';
import { Amount } from '../parts/lists/amount.tsx';
import { Panel, Waiting } from '../parts/panel.tsx';
import { namesWithin } from '../parts/names.ts';
import { END_TEXTS } from '../parts/prefs/times.ts';
import { firstPrice, priceDigits } from '../parts/prices.ts';
import { Price } from '../parts/show.tsx';
import { sqlOfEvent } from '../parts/statements.ts';
import { eventAddress, marketAddress } from '../parts/url.ts';

const SHOWN = 20;

/** The other markets of the same event. */
export function Related({ market }: { market: Market }) {
  const params = { provider: market.platform, event_id: market.event_id, sort: 'volume_24h_usd', limit: SHOWN };
  const asked = useApi('/v1/api/markets', market.event_id === '' ? null : params, SLOW_MS);
  const names = namesWithin(asked.data?.markets ?? [], END_TEXTS);
  const others = (asked.data?.markets ?? []).filter(({ id }) => id !== market.id);
  if (market.event_id === '') return null;
  const total = asked.data?.pagination.total ?? 0;
  return (
    <Panel
      title="Markets of this event"
      query={{ path: '/v1/api/markets', params, sql: sqlOfEvent(market.platform, market.event_id) }}
      aside={<a href={eventAddress(market.platform, market.event_id)}>{total > 1 ? `All ${total}` : 'The event'}</a>}
    >
      {others.length === 0 ? (
        <Waiting of={asked} empty="There are no other markets." />
      ) : (
        <table>
          <Columns of={['Market', ['Price', 'number'], ['Volume 24 h', 'number']]} />
          <tbody>
            {others.map((other) => (
              <tr key={other.id}>
                <td class="cut lines-2">
                  <a href={marketAddress(other.id)} title={other.title}>
                    <bdi>{names.get(other.id) || other.title}</bdi>
                  </a>
                </td>
                <td class="number">
                  <Price value={firstPrice(other)} digits={priceDigits(other)} />
                </td>
                <Amount value={other.volume_24h_usd} basis={other.usd_basis.volume_24h} />
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Panel>
  );
}
