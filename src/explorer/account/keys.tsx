import { useState } from 'preact/hooks';
import { Columns } from '../parts/columns.tsx';
import type { ApiKey } from '../parts/answers.ts';
import { send, useApi } from '../parts/api.ts';
import { Copyable, Panel, Waiting } from '../parts/panel.tsx';
import { Time } from '../parts/show.tsx';
import { textOf, useAttempt } from '../parts/forms/attempt.ts';
import { ConfirmPassword, FailureNotice, RowForm } from '../parts/forms/row-form.tsx';

const EXPIRIES = [
  [0, 'never'],
  [1, 'in a day'],
  [30, 'in 30 days'],
  [90, 'in 90 days'],
  [365, 'in a year'],
] as const;
const expiryOf = (days: number): string | null =>
  days === 0 ? null : new Date(Date.now() + days * 86_400_000).toISOString();

type MadeKey = Pick<ApiKey, 'id' | 'name'> & { key: string };

/** API keys: created, shown once, revoked. */
export function Keys() {
  const asked = useApi('/v1/api/auth/api-keys', {});
  const [made, setMade] = useState<MadeKey | null>(null);
  const { busy, failure, asksPassword, attempt } = useAttempt();
  const create = (form: HTMLFormElement): Promise<void> =>
    attempt(async () => {
      const password = textOf(form, 'password');
      const body = {
        name: textOf(form, 'name'),
        scopes: textOf(form, 'trade') === '' ? ['read'] : ['read', 'trade'],
        expires_at: expiryOf(Number(textOf(form, 'days'))),
        ...(password === '' ? {} : { current_password: password }),
      };
      setMade(await send<MadeKey>('POST', '/v1/api/auth/api-keys', body));
      form.reset();
      asked.reload();
    });
  const revoke = ({ id, name }: ApiKey): Promise<void> =>
    attempt(async () => {
      if (!confirm(`Revoke the key “${name}”? Programs that use it stop working at once.`)) return;
      await send('DELETE', `/v1/api/auth/api-keys/${encodeURIComponent(id)}`);
      setMade((shown) => (shown?.id === id ? null : shown));
      asked.reload();
    });
  const live = (asked.data?.api_keys ?? []).filter(({ revoked_at: at }) => at === null);
  return (
    <Panel title="API keys" of={asked}>
      {live.length === 0 ? (
        <Waiting of={asked} empty="No active API keys." />
      ) : (
        <table>
          <Columns of={['Key', 'Last used', 'Expires', ['Revoke', 'hidden']]} />
          <tbody>
            {live.map((key) => (
              <tr key={key.id}>
                <td class="name">
                  <bdi>{key.name}</bdi>
                  <div class="muted">
                    <code>{key.prefix}…</code> {key.scopes.includes('trade') ? 'reads and trades' : 'reads only'}
                  </div>
                </td>
                <td class="nowrap">
                  {key.last_used_at === null ? (
                    <span class="muted">never</span>
                  ) : (
                    <Time at={key.last_used_at} relative />
                  )}
                </td>
                <td class="nowrap">
                  {key.expires_at === null ? <span class="muted">never</span> : <Time at={key.expires_at} relative />}
                </td>
                <td class="number">
                  <button type="button" disabled={busy} onClick={() => void revoke(key)}>
                    Revoke<span class="hidden"> {key.name}</span>
                  </button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {made && (
        <div class="panel-body made" role="status">
          <p>
            The key “<bdi>{made.name}</bdi>” is shown only once. Copy it and store it safely.
          </p>
          <Copyable text={made.key} label="Copy the key" />
        </div>
      )}
      <RowForm submit={create}>
        <label>
          Name
          <input name="name" required maxLength={100} />
        </label>
        <label>
          Expires
          <select name="days">
            {EXPIRIES.map(([days, text]) => (
              <option key={days} value={days}>
                {text}
              </option>
            ))}
          </select>
        </label>
        {asksPassword && <ConfirmPassword />}
        <label class="tick">
          <input type="checkbox" name="trade" value="yes" defaultChecked /> may place and cancel orders
        </label>
        <button type="submit" class="main" disabled={busy}>
          Create a key
        </button>
      </RowForm>
      <FailureNotice of={failure} />
    </Panel>
  );
}
