import { Columns } from '../parts/columns.tsx';
import type { Order } from '../parts/answers.ts';
import { type Loaded, send, useApi } from '../parts/api.ts';
import { type Known, useKnownMarkets } from '../parts/known-markets.ts';
import { nameOf, titled } from '../parts/names.ts';
import { Choice, Panel, Waiting } from '../parts/panel.tsx';
import { useListOfPlatforms } from '../parts/platforms.ts';
import { Num, Price, Status, Time } from '../parts/show.tsx';
import { idOf, marketAddress, setQuery, usePlace } from '../parts/url.ts';
import { TradingKey, useTradingKey } from '../parts/forms/trading-key.tsx';
import { useAttempt } from '../parts/forms/attempt.ts';
import { FailureNotice } from '../parts/forms/row-form.tsx';

/** Status of an answer to a user whom the platform does not know. */
const NO_CREDENTIAL = 422;

const isOpen = ({ status }: Order): boolean => ['open', 'partially_filled', 'pending'].includes(status);

/** Orders of the account on one platform. Cancelling requires an API key that may trade; orders cannot be placed here. */
export function Orders() {
  const { query } = usePlace();
  const listed = useListOfPlatforms();
  const platforms = listed.data ?? [];
  const platform = platforms.find((name) => name === query.get('platform')) ?? platforms[0];
  const params = { platform, limit: 50 };
  const asked = useApi('/v1/api/orders', platform === undefined ? null : params, 10_000);
  const key = useTradingKey();
  const { busy, failure, attempt } = useAttempt();
  const cancel = (order: Order): Promise<void> =>
    attempt(async () => {
      const market = marketOf(idOf(order));
      const what = `${order.size} ${outcomeOf(order, market)} in “${titleOf(order, market)}”`;
      if (!confirm(`Cancel the order to ${order.side} ${what}?`)) return;
      await send(
        'DELETE',
        `/v1/api/orders/${encodeURIComponent(order.order_id)}?platform=${order.platform}`,
        undefined,
        key,
      );
      asked.reload();
    });
  const orders = asked.data?.orders ?? [];
  const marketOf = useKnownMarkets(orders.map(idOf));
  return (
    <Panel
      title="Orders"
      query={{ path: '/v1/api/orders', params }}
      {...(asked.failure?.status === NO_CREDENTIAL ? {} : { of: asked })}
      aside={
        platform !== undefined && (
          <Choice
            label="Platform"
            value={platform}
            options={platforms.map((name) => [name, titled(name)] as const)}
            onChange={(value) => setQuery({ platform: value })}
          />
        )
      }
    >
      {orders.length === 0 ? (
        <NoOrders of={platform === undefined ? listed : asked} />
      ) : (
        <table>
          <Columns of={['Order', ['Filled', 'number'], 'State']} />
          <tbody>
            {orders.map((order) => (
              <tr key={order.order_id}>
                <td class="name">
                  <Terms order={order} market={marketOf(idOf(order))} />
                </td>
                <td class="number">
                  <Num value={order.filled_size} /> of <Num value={order.size} />
                </td>
                <td>
                  <Status status={order.status.replaceAll('_', ' ')} />
                  {isOpen(order) && (
                    <button
                      type="button"
                      disabled={busy || key === ''}
                      title={key === '' ? 'Enter a key below that may trade' : 'Cancel this order'}
                      onClick={() => void cancel(order)}
                    >
                      Cancel<span class="hidden"> {order.order_id}</span>
                    </button>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <form class="row-form" hidden={!orders.some(isOpen)} onSubmit={(event) => event.preventDefault()}>
        <TradingKey what="To cancel" />
      </form>
      <FailureNotice of={failure} />
    </Panel>
  );
}

/** Without a credential there are no orders: that is no failure, and asking again changes nothing. */
function NoOrders({ of }: { of: Pick<Loaded<unknown>, 'failure' | 'loading' | 'reload'> }) {
  if (of.failure?.status !== NO_CREDENTIAL) return <Waiting of={of} empty="There are no orders on this platform." />;
  return <p class="notice muted">{of.failure.message}. Add one above to see and place its orders.</p>;
}

/** The names of an order's market and outcome; their ids until the market is loaded. */
const titleOf = (order: Order, market: Known | undefined): string => (market ? nameOf(market) : order.market_id);
const outcomeOf = (order: Order, market: Known | undefined): string =>
  market?.outcomes.find(({ id }) => id === order.outcome)?.name ?? order.outcome;

/** Side, outcome, price and time of an order, with a link to its market. */
function Terms({ order, market }: { order: Order; market: Known | undefined }) {
  return (
    <>
      <a href={marketAddress(idOf(order))}>
        <bdi>{titleOf(order, market)}</bdi>
      </a>
      <div>
        <span class={order.side === 'buy' ? 'up' : 'down'}>
          {order.side === 'buy' ? 'Buy' : 'Sell'} <bdi>{outcomeOf(order, market)}</bdi>
        </span>{' '}
        at <Price value={order.price} />
        {order.type === 'market' && ' or better'},{' '}
        <span class="muted zoned">
          placed <Time at={order.created_at} />
        </span>
      </div>
    </>
  );
}
