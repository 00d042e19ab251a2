import { useState } from 'preact/hooks';
import { send, useApi } from '../parts/api.ts';
import { Columns } from '../parts/columns.tsx';
import { textOf, useAttempt } from '../parts/forms/attempt.ts';
import { Panel, Waiting } from '../parts/panel.tsx';
import { Time } from '../parts/show.tsx';
import { FailureNotice, RowForm } from '../parts/forms/row-form.tsx';
import { titled } from '../parts/names.ts';

/** Sessions, the password, and the log of what happened to the account. */
export function Security() {
  const sessions = useApi('/v1/api/auth/sessions', {});
  const log = useApi('/v1/api/auth/events', { limit: 50 });
  const { busy, failure, attempt } = useAttempt();
  const [isChanged, setChanged] = useState(false);
  const reload = (): void => {
    sessions.reload();
    log.reload();
  };
  const end = (id?: string): Promise<void> =>
    attempt(async () => {
      await send('DELETE', `/v1/api/auth/sessions${id === undefined ? '' : `/${encodeURIComponent(id)}`}`);
      reload();
    });
  const change = (form: HTMLFormElement): Promise<void> =>
    attempt(async () => {
      setChanged(false);
      const current = textOf(form, 'current');
      await send('POST', '/v1/api/auth/password', {
        ...(current === '' ? {} : { current_password: current }),
        new_password: textOf(form, 'new'),
      });
      form.reset();
      setChanged(true);
      reload();
    });
  const open = sessions.data?.sessions ?? [];
  return (
    <>
      <Panel
        title="Sessions and password"
        of={sessions}
        aside={
          open.length > 1 && (
            <button type="button" disabled={busy} onClick={() => void end()}>
              End all others
            </button>
          )
        }
      >
        {open.length === 0 ? (
          <Waiting of={sessions} />
        ) : (
          <table>
            <Columns of={['Browser', 'Last used', ['End', 'hidden']]} />
            <tbody>
              {open.map((one) => (
                <tr key={one.id}>
                  <td class="name">
                    <bdi>{browserOf(one.user_agent)}</bdi>
                    <div class="muted">
                      <bdi>{one.address}</bdi>
                    </div>
                  </td>
                  <td class="nowrap">
                    <Time at={one.last_used_at ?? one.created_at} relative />
                  </td>
                  <td class="number">
                    {one.current ? (
                      <span class="status open">this one</span>
                    ) : (
                      <button type="button" disabled={busy} onClick={() => void end(one.id)}>
                        End
                      </button>
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
        <RowForm submit={change}>
          <label>
            Current password
            <input name="current" type="password" autocomplete="current-password" />
          </label>
          <label>
            New password, 8 characters or more
            <input name="new" type="password" autocomplete="new-password" minLength={8} required />
          </label>
          <button type="submit" class="main" disabled={busy}>
            Change the password
          </button>
        </RowForm>
        {isChanged && (
          <p class="notice" role="status">
            The password is changed, and every other session has ended.
          </p>
        )}
        <FailureNotice of={failure} />
      </Panel>
      <Panel title="Security log" of={log}>
        {(log.data?.events ?? []).length === 0 ? (
          <Waiting of={log} empty="Nothing has happened yet." />
        ) : (
          <div class="log" tabIndex={0} role="region" aria-label="Events of the account">
            <table>
              <Columns of={['When', 'What', 'From']} />
              <tbody>
                {log.data?.events.map((one) => (
                  <tr key={one.id}>
                    <td class="nowrap muted">
                      <Time at={one.at} relative />
                    </td>
                    <td>{sentenceOf(one.event)}</td>
                    <td class="muted">
                      <bdi>{one.address === '' ? 'the operator' : one.address}</bdi>
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
      </Panel>
    </>
  );
}

const sentenceOf = (event: string): string => {
  const words = event.replaceAll('_', ' ');
  return titled(words);
};

const BROWSERS = [
  ['Edg/', 'Edge'],
  ['Firefox/', 'Firefox'],
  ['Chrome/', 'Chrome'],
  ['Safari/', 'Safari'],
] as const;
const SYSTEMS = ['Windows', 'Android', 'iPhone', 'iPad', 'Mac OS', 'Linux'] as const;

/** The browser and system that a User-Agent names, else its beginning. */
function browserOf(agent: string): string {
  const browser = BROWSERS.find(([mark]) => agent.includes(mark))?.[1];
  const system = SYSTEMS.find((name) => agent.includes(name));
  if (browser === undefined) return agent === '' ? 'Unknown program' : agent.slice(0, 40);
  return system === undefined ? browser : `${browser} on ${system}`;
}
