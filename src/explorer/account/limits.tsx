import { send, useApi } from '../parts/api.ts';
import { textOf, useAttempt } from '../parts/forms/attempt.ts';
import { Panel, Waiting } from '../parts/panel.tsx';
import { FailureNotice, RowForm } from '../parts/forms/row-form.tsx';

const SETTINGS = '/v1/api/auth/order-settings';

/** The kill switch and the limits of the account's orders. */
export function Limits() {
  const asked = useApi(SETTINGS, {});
  const { busy, failure, attempt } = useAttempt();
  const change = (body: object): Promise<void> =>
    attempt(async () => {
      await send('PATCH', SETTINGS, body);
      asked.reload();
    });
  const limits = asked.data;
  return (
    <Panel title="Trading" of={asked}>
      {!limits ? (
        <Waiting of={asked} />
      ) : (
        <>
          <div class={`panel-body switch ${limits.trading_enabled ? '' : 'off'}`}>
            <span>
              {limits.trading_enabled ? 'Orders are accepted.' : 'Every order is refused until trading is switched on.'}
            </span>
            <button
              type="button"
              disabled={busy}
              onClick={() => void change({ trading_enabled: !limits.trading_enabled })}
            >
              {limits.trading_enabled ? 'Stop trading' : 'Allow trading'}
            </button>
          </div>
          <RowForm
            key={`${limits.max_order_notional} ${limits.max_day_notional}`}
            submit={(form) => {
              const amount = (name: string): string | null => textOf(form, name).trim() || null;
              return change({ max_order_notional: amount('order'), max_day_notional: amount('day') });
            }}
          >
            <label>
              Most for one order, USD
              <input name="order" inputMode="decimal" placeholder="no limit" value={limits.max_order_notional ?? ''} />
            </label>
            <label>
              Most for a UTC day, USD
              <input name="day" inputMode="decimal" placeholder="no limit" value={limits.max_day_notional ?? ''} />
            </label>
            <button type="submit" class="main" disabled={busy}>
              Set the limits
            </button>
          </RowForm>
          <FailureNotice of={failure} />
        </>
      )}
    </Panel>
  );
}
