import { useEffect, useState } from 'preact/hooks';
import { lastAllowance } from '../parts/api.ts';
import { Panel } from '../parts/panel.tsx';
import { Num } from '../parts/show.tsx';
import { useSession } from '../parts/session.tsx';
import { Credentials } from './credentials.tsx';
import { useAttempt } from '../parts/forms/attempt.ts';
import { Keys } from './keys.tsx';
import { Limits } from './limits.tsx';
import { Orders } from './orders.tsx';
import { Security } from './security.tsx';

const DAY = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' });

/** The signed-in user's account: keys, credentials, orders, limits and sessions. */
export function AccountPage() {
  const { user, logOut } = useSession();
  const { busy, failure, attempt } = useAttempt();
  return (
    <div class="overview">
      <h1 class="hidden">Account</h1>
      <Panel
        title="Account"
        aside={
          <button type="button" disabled={busy} onClick={() => void attempt(logOut)}>
            Log out
          </button>
        }
      >
        <dl class="facts">
          <div>
            <dt>E-mail</dt>
            <dd>
              <bdi>{user.email}</bdi>
            </dd>
          </div>
          <div>
            <dt>Tier</dt>
            <dd>{user.tier}</dd>
          </div>
          <div>
            <dt>Since</dt>
            <dd>
              <time dateTime={user.created_at} title={user.created_at}>
                {DAY.format(new Date(user.created_at))}
              </time>
            </dd>
          </div>
          <div>
            <dt>Requests left this minute</dt>
            <dd>
              <Left />
            </dd>
          </div>
        </dl>
        {failure && (
          <p class="notice failed" role="alert">
            Not logged out: {failure.message}. {failure.resolution}
          </p>
        )}
      </Panel>
      <Keys />
      <Credentials />
      <Orders />
      <Limits />
      <Security />
    </div>
  );
}

/** The requests that are left in this minute, from the last response of the service. */
function Left() {
  const [allowance, setAllowance] = useState(lastAllowance);
  useEffect(() => {
    const timer = setInterval(() => setAllowance(lastAllowance()), 1000);
    return () => clearInterval(timer);
  }, []);
  if (!allowance) return <>–</>;
  return (
    <>
      <Num value={allowance.remaining} /> of <Num value={allowance.limit} />
    </>
  );
}
