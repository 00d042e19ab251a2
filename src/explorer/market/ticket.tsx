import { useState } from 'preact/hooks';
import type { Answers, Market, OrderBook } from '../parts/answers.ts';
import { send, useApi } from '../parts/api.ts';
import { decimals, plain, sum } from '../parts/exact.ts';
import { textOf, useAttempt } from '../parts/forms/attempt.ts';
import { TradingKey, useTradingKey } from '../parts/forms/trading-key.tsx';
import { Choice, Panel, Waiting } from '../parts/panel.tsx';
import { priceDigits } from '../parts/prices.ts';
import { Num, Price, Status } from '../parts/show.tsx';
import { isOver } from './ranges.ts';
import { sideOf } from './turned.ts';
import { FailureNotice, RowForm } from '../parts/forms/row-form.tsx';

const ORDERS = '/v1/api/orders';
const SETTINGS = '/v1/api/auth/order-settings';
type Placed = Answers['POST /v1/api/orders'];

interface Props {
  market: Market;
  book: OrderBook | undefined;
  /** Trades the second of two outcomes. */
  turned: boolean;
}

/** An order that was checked and not sent, with what it costs at worst. */
interface Checked {
  body: { market_id: string; outcome: string };
  placed: Placed;
}

/**
 * What binds an order to the worst price that was shown: the book may have moved since. null for a market order that cannot be bound,
 * because the API takes prices of 0.01 to 0.99.
 */
function boundOf({ type, price }: Placed['order']): { price?: string } | null {
  if (type !== 'market') return {};
  return price !== null && price >= 0.01 && price <= 0.99 ? { price: plain(price) } : null;
}

/** The platform and the service keep an order with this key from being placed twice. */
const newKey = (): string =>
  [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');

/** Places orders: the first click checks and says what the order costs at worst, the second sends it. */
export function Ticket(props: Props) {
  const [open, setOpen] = useState(false);
  if (isOver(props.market)) return null;
  return (
    <Panel
      title="Order"
      class="ticket"
      aside={
        <button type="button" aria-expanded={open} onClick={() => setOpen(!open)}>
          {open ? 'Close' : 'Trade'}
        </button>
      }
    >
      {open && <OrderForm {...props} />}
    </Panel>
  );
}

function OrderForm({ market, book, turned }: Props) {
  const key = useTradingKey();
  const [side, setSide] = useState<'buy' | 'sell'>('buy');
  const [type, setType] = useState<'limit' | 'market'>('limit');
  const [checked, setChecked] = useState<Checked | null>(null);
  const [placed, setPlaced] = useState<Placed | null>(null);
  const { busy, failure, attempt } = useAttempt();
  const outcome = market.outcomes[turned ? 1 : 0];
  const levels = book?.[sideOf(turned)];
  const best = side === 'buy' ? levels?.asks[0]?.price : levels?.bids[0]?.price;
  const name = outcome?.name ?? '';
  const clear = (): void => {
    setChecked(null);
    setPlaced(null);
  };
  const check = (form: HTMLFormElement): Promise<void> =>
    attempt(async () => {
      clear();
      const body = {
        platform: market.platform,
        market_id: market.platform_id,
        side,
        outcome: outcome?.id ?? '',
        type,
        size: textOf(form, 'size').trim(),
        ...(type === 'limit' ? { price: textOf(form, 'price').trim() } : {}),
        idempotency_key: newKey(),
      };
      setChecked({ body, placed: await send<Placed>('POST', ORDERS, { ...body, dry_run: true }, key) });
    });
  const place = ({ body }: Checked, bound: { price?: string }): Promise<void> =>
    attempt(async () => {
      setPlaced(await send<Placed>('POST', ORDERS, { ...body, ...bound }, key));
      setChecked(null);
    });
  // The outcome may have been turned since: the button would name another one than it trades.
  const isShown = checked?.body.market_id === market.platform_id && checked.body.outcome === outcome?.id;
  return (
    <>
      <KillSwitch />
      <RowForm submit={check} onInput={clear}>
        <Choice
          label="Side"
          value={side}
          options={[
            ['buy', `Buy ${name}`],
            ['sell', `Sell ${name}`],
          ]}
          onChange={(value) => {
            setSide(value);
            clear();
          }}
        />
        <Choice
          label="Type"
          value={type}
          options={[
            ['limit', 'Limit'],
            ['market', 'Market'],
          ]}
          onChange={(value) => {
            setType(value);
            clear();
          }}
        />
        <label>
          Size
          <input name="size" inputMode="decimal" required autocomplete="off" />
        </label>
        {type === 'limit' && (
          <label key={side}>
            Price, 0.01 to 0.99
            <input
              name="price"
              inputMode="decimal"
              required
              autocomplete="off"
              placeholder={best === undefined ? '' : `best ${plain(best)}`}
            />
          </label>
        )}
        <TradingKey what="To place orders" />
        <button type="submit" disabled={busy || key === ''}>
          Check the order
        </button>
      </RowForm>
      {checked && isShown && <WorstCase checked={checked} market={market} name={name} busy={busy} place={place} />}
      {placed && (
        <p class="notice" role="status">
          <Status status={placed.order.status.replaceAll('_', ' ')} /> Order{' '}
          <bdi>{placed.order.order_id.slice(0, 16)}</bdi>.{' '}
          <a href={`/account?platform=${market.platform}`}>Your orders</a>
        </p>
      )}
      <FailureNotice of={failure} />
    </>
  );
}

interface WorstCaseProps {
  checked: Checked;
  market: Market;
  name: string;
  busy: boolean;
  place: (checked: Checked, bound: { price?: string }) => Promise<void>;
}

/** An amount in USD with all its digits: a rounded one could be less than an order may cost. */
const Amount = ({ value, why }: { value: number | null; why?: string }) => (
  <Num
    value={value}
    prefix="$"
    digits={value === null ? 2 : Math.max(2, decimals(value))}
    {...(why === undefined ? {} : { why })}
  />
);

/** What an order costs or brings at worst, its fee, and the click that sends it. */
function WorstCase({ checked, market, name, busy, place }: WorstCaseProps) {
  const { order, meta } = checked.placed;
  const isPurchase = order.side === 'buy';
  const { usd, fee_usd: fee } = meta.worst_case ?? { usd: null, fee_usd: null };
  const bound = boundOf(order);
  const total = usd === null || fee === null ? null : sum([usd, isPurchase ? fee : -fee]);
  return (
    <div class="panel-body checked" role="status">
      <dl class="facts">
        <div>
          <dt>Worst price</dt>
          <dd>
            <Price value={order.price} digits={priceDigits(market)} still />
          </dd>
        </div>
        <div>
          <dt>{isPurchase ? 'Costs at most' : 'Brings at least, if it fills'}</dt>
          <dd>
            <Amount value={usd} />
          </dd>
        </div>
        <div>
          <dt>Fee as a taker</dt>
          <dd>
            <Amount value={fee} why="The platform does not state the fee of this market" />
          </dd>
        </div>
        <div>
          <dt>{isPurchase ? 'Both' : 'After the fee'}</dt>
          <dd>
            <Amount value={total} />
          </dd>
        </div>
      </dl>
      {bound ? (
        <button type="button" class="main" disabled={busy} onClick={() => void place(checked, bound)}>
          {isPurchase ? 'Buy' : 'Sell'} {plain(order.size)} {name}
        </button>
      ) : (
        <p class="warn">
          A market order cannot be limited to a worst price outside 0.01 to 0.99. Place a limit order instead.
        </p>
      )}
    </div>
  );
}

/** Whether orders are accepted, and the button that stops them. */
function KillSwitch() {
  const asked = useApi(SETTINGS, {});
  const { busy, failure, attempt } = useAttempt();
  if (!asked.data) return <Waiting of={asked} />;
  const isOn = asked.data.trading_enabled;
  const turn = (): Promise<void> =>
    attempt(async () => {
      await send('PATCH', SETTINGS, { trading_enabled: !isOn });
      asked.reload();
    });
  return (
    <>
      <div class={`panel-body switch ${isOn ? '' : 'off'}`}>
        <span>{isOn ? 'Orders are accepted.' : 'Every order is refused.'}</span>
        <button type="button" class={isOn ? 'stop' : ''} disabled={busy} onClick={() => void turn()}>
          {isOn ? 'Stop trading' : 'Allow trading'}
        </button>
      </div>
      <FailureNotice of={failure} />
    </>
  );
}
