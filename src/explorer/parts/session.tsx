import type { ComponentChildren } from 'preact';
import { createContext, Fragment } from 'preact';
import { useContext, useEffect, useId, useRef, useState } from 'preact/hooks';
import type { User } from './answers.ts';
import { call, send, SIGNED_OUT, useRepeated } from './api.ts';
import { textOf, useAttempt } from './forms/attempt.ts';
import { POLL_MS } from './live.ts';
import { forgetWatched } from './wallets/watched.tsx';

interface Session {
  user: User;
  /** Ends the session on this page and on the service. */
  logOut: () => Promise<void>;
}

const SessionContext = createContext<Session | null>(null);

export function useSession(): Session {
  const session = useContext(SessionContext);
  if (!session) throw new Error('used outside of SignedIn');
  return session;
}

/** Renders its children for a signed-in user, else the sign-in form. */
export function SignedIn({ children }: { children: ComponentChildren }) {
  const [user, setUser] = useState<User | null | undefined>(undefined);
  /** Changes after signing in again: as a key, it makes the pages load everything again. */
  const [round, setRound] = useState(0);
  const { failure } = useRepeated(user === undefined ? 'me' : null, async () => setUser(await whoIsIt()), POLL_MS);
  useSignedOut(
    (again) => {
      setUser(again);
      setRound((n) => n + 1);
    },
    () => {
      forgetWatched();
      setUser(null);
    },
  );
  if (user === undefined) {
    return (
      <p class="notice muted" role="status">
        {failure ? `${failure.message}. ${failure.resolution}` : 'Loading …'}
      </p>
    );
  }
  if (user === null) return <SignIn onUser={setUser} />;
  const logOut = async (): Promise<void> => {
    await send('POST', '/v1/api/auth/logout');
    forgetWatched();
    setUser(null);
  };
  return (
    <SessionContext.Provider value={{ user, logOut }}>
      <Fragment key={round}>{children}</Fragment>
    </SessionContext.Provider>
  );
}

/** Checks who is signed in after a 401. A service may sign in a browser that opens a page, as the demo does: that is tried first. */
function useSignedOut(onUser: (user: User) => void, onNobody: () => void): void {
  const heard = useRef({ onUser, onNobody });
  heard.current = { onUser, onNobody };
  useEffect(() => {
    let nextAt = 0;
    const ask = async (): Promise<void> => {
      if (Date.now() < nextAt) return;
      nextAt = Date.now() + POLL_MS;
      if ((await whoIsIt()) !== null) return;
      await call(location.pathname, { headers: { accept: 'text/html' } });
      const user = await whoIsIt();
      if (user === null) heard.current.onNobody();
      else heard.current.onUser(user);
    };
    // If the service does not respond, the next 401 checks again.
    const hear = (): void => void ask().catch(() => {});
    addEventListener(SIGNED_OUT, hear);
    return () => removeEventListener(SIGNED_OUT, hear);
  }, []);
}

/** null if nobody is signed in. */
async function whoIsIt(): Promise<User | null> {
  const answer = await call('/v1/api/auth/me', {}, [401]);
  return answer.ok ? ((await answer.json()) as { user: User }).user : null;
}

function SignIn({ onUser }: { onUser: (user: User) => void }) {
  const [isNew, setIsNew] = useState(false);
  const [isForgotten, setIsForgotten] = useState(false);
  const { busy, failure, attempt } = useAttempt();
  const id = useId();
  const submit = (form: HTMLFormElement): Promise<void> =>
    attempt(async () => {
      const body = { email: textOf(form, 'email'), password: textOf(form, 'password') };
      const { user } = await send<{ user: User }>('POST', `/v1/api/auth/${isNew ? 'register' : 'login'}`, body);
      onUser(user);
    });
  if (isForgotten) return <Forgotten onBack={() => setIsForgotten(false)} />;
  return (
    <section class="panel sign-in" aria-labelledby={`${id}-title`}>
      <h1 id={`${id}-title`}>{isNew ? 'Create an account' : 'Sign in'}</h1>
      <p class="muted">Accounts exist only on this service. The API documentation is public.</p>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void submit(event.currentTarget);
        }}
      >
        <label for={`${id}-email`}>E-mail</label>
        <input id={`${id}-email`} name="email" type="email" autocomplete="username" required />
        <label for={`${id}-password`}>Password{isNew ? ', 8 characters or more' : ''}</label>
        <input
          id={`${id}-password`}
          name="password"
          type="password"
          autocomplete={isNew ? 'new-password' : 'current-password'}
          minLength={isNew ? 8 : 1}
          required
        />
        {failure && (
          <p class="failed" role="alert">
            {failure.message} {failure.resolution}
          </p>
        )}
        <button type="submit" class="main" disabled={busy}>
          {isNew ? 'Create account' : 'Sign in'}
        </button>
        <button type="button" class="quiet" onClick={() => setIsNew(!isNew)}>
          {isNew ? 'I have an account' : 'Create an account'}
        </button>
        {!isNew && (
          <button type="button" class="quiet" onClick={() => setIsForgotten(true)}>
            Forgot the password?
          </button>
        )}
      </form>
    </section>
  );
}

/** What is said after a reset was asked for, the same with and without an account. */
const DELIVERED = {
  mail: 'If this address has an account, a mail with a link is on its way. The link works once, within an hour.',
  operator: 'This service sends no mail. Its operator makes a link with: npm run user -- reset YOUR-ADDRESS',
} as const;

/** Asks for a link that sets a new password. */
function Forgotten({ onBack }: { onBack: () => void }) {
  const { busy, failure, attempt } = useAttempt();
  const [said, setSaid] = useState('');
  const id = useId();
  const ask = (form: HTMLFormElement): Promise<void> =>
    attempt(async () => {
      const body = { email: textOf(form, 'email') };
      const answer = await send<{ delivery: keyof typeof DELIVERED }>('POST', '/v1/api/auth/password/reset', body);
      setSaid(DELIVERED[answer.delivery]);
    });
  return (
    <section class="panel sign-in" aria-labelledby={`${id}-title`}>
      <h1 id={`${id}-title`}>Forgot the password</h1>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void ask(event.currentTarget);
        }}
      >
        <label for={`${id}-email`}>E-mail</label>
        <input id={`${id}-email`} name="email" type="email" autocomplete="username" required />
        {failure && (
          <p class="failed" role="alert">
            {failure.message} {failure.resolution}
          </p>
        )}
        {said !== '' && <p role="status">{said}</p>}
        <button type="submit" class="main" disabled={busy}>
          Ask for a link
        </button>
        <button type="button" class="quiet" onClick={onBack}>
          Back to sign in
        </button>
      </form>
    </section>
  );
}
