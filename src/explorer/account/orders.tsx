import { useState } from 'preact/hooks';
import { Columns } from '../parts/columns.tsx';
import type { Order } from '../parts/answers.ts';
import { send, useApi } from '../parts/api.ts';
import { Choice, Panel, Waiting } from '../parts/panel.tsx';
import { usePlatforms } from '../parts/platforms.ts';
import { Num, Price, Status, Time } from '../parts/show.tsx';
import { marketAddress, setQuery, usePlace } from '../parts/url.ts';
import { useAttempt } from './form.ts';

const isOpen = ({ status }: Order): boolean => ['open', 'partially_filled', 'pending'].includes(status);

/** Orders of the account on one platform. They are cancelled with a key that may trade; none is placed from here. */
export function Orders() {
  const { query } = usePlace();
  const platforms = usePlatforms() ?? [];
  const platform = platforms.find((name) => name === query.get('platform')) ?? platforms[0];
  const params = { platform, limit: 50 };
  const asked = useApi('/v1/api/orders', platform === undefined ? null : params, 10_000);
  const [key, setKey] = useState('');
  const { busy, failure, attempt } = useAttempt();
  const cancel = (order: Order): Promise<void> =>
    attempt(async () => {
      await send(
        'DELETE',
        `/v1/api/orders/${encodeURIComponent(order.order_id)}?platform=${order.platform}`,
        undefined,
        key,
      );
      asked.reload();
    });
  const orders = asked.data?.orders ?? [];
  return (
    <Panel
      title="Orders"
      query={{ path: '/v1/api/orders', params }}
      aside={
        platform !== undefined && (
          <Choice
            label="Platform"
            value={platform}
            options={platforms.map((name) => [name, name.charAt(0).toUpperCase() + name.slice(1)] as const)}
            onChange={(value) => setQuery({ platform: value })}
          />
        )
      }
    >
      {orders.length === 0 ? (
        <Waiting of={asked} empty="There are no orders on this platform." />
      ) : (
        <div class="scroll" tabIndex={0} role="region" aria-label="Orders">
          <table>
            <Columns
              of={[
                'Placed',
                'Market',
                'Order',
                ['Price', 'number'],
                ['Size', 'number'],
                ['Filled', 'number'],
                'State',
                ['Cancel', 'hidden'],
              ]}
            />
            <tbody>
              {orders.map((order) => (
                <tr key={order.order_id}>
                  <td class="nowrap muted">
                    <Time at={order.created_at} />
                  </td>
                  <td class="cut">
                    <a href={marketAddress(`${order.platform}:${order.market_id}`)}>{order.market_id}</a>
                  </td>
                  <td class={`nowrap ${order.side === 'buy' ? 'up' : 'down'}`}>
                    {order.side} <bdi>{order.outcome}</bdi>
                  </td>
                  <td class="number">
                    <Price value={order.price} />
                  </td>
                  <td class="number">
                    <Num value={order.size} />
                  </td>
                  <td class="number">
                    <Num value={order.filled_size} />
                  </td>
                  <td>
                    <Status status={order.status} />
                  </td>
                  <td class="number">
                    {isOpen(order) && (
                      <button type="button" disabled={busy || key === ''} onClick={() => void cancel(order)}>
                        Cancel<span class="hidden"> {order.order_id}</span>
                      </button>
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <form class="row-form" hidden={!orders.some(isOpen)} onSubmit={(event) => event.preventDefault()}>
        <label class="whole">
          To cancel: an API key that may trade. It is kept until this page is closed.
          <input
            type="password"
            autocomplete="off"
            placeholder="pk_…"
            value={key}
            onInput={({ currentTarget }) => setKey(currentTarget.value.trim())}
          />
        </label>
      </form>
      {failure && (
        <p class="notice failed" role="alert">
          {failure.message} {failure.resolution}
        </p>
      )}
    </Panel>
  );
}
