import { useEffect, useReducer } from 'preact/hooks';
import { send } from '../api.ts';
import { useAttempt } from './attempt.ts';

/** Orders need an API key that may trade. It stays in memory, until the document is closed. */
let key = '';
const listeners = new Set<() => void>();
const HOURS = 12;

function keep(given: string): void {
  key = given;
  for (const listener of listeners) listener();
}

/** The key in use; '' without one. */
export function useTradingKey(): string {
  const [, redraw] = useReducer((n: number) => n + 1, 0);
  useEffect(() => {
    const hear = (): void => redraw(0);
    listeners.add(hear);
    return () => void listeners.delete(hear);
  }, []);
  return key;
}

/** Takes a key that may trade, or makes one that expires by itself. */
export function TradingKey({ what }: { what: string }) {
  const current = useTradingKey();
  const { busy, failure, attempt } = useAttempt();
  const make = (): Promise<void> =>
    attempt(async () => {
      const expires_at = new Date(Date.now() + HOURS * 3_600_000).toISOString();
      const body = { name: 'explorer', scopes: ['read', 'trade'], expires_at };
      keep((await send<{ key: string }>('POST', '/v1/api/auth/api-keys', body)).key);
    });
  return (
    <>
      <label class="whole">
        {what}: an API key that may trade. It is kept until this page is closed.
        <input
          type="password"
          autocomplete="off"
          placeholder="pk_…"
          value={current}
          onInput={({ currentTarget }) => keep(currentTarget.value.trim())}
        />
      </label>
      {current === '' && (
        <button type="button" disabled={busy} onClick={() => void make()}>
          Make a key for {HOURS} hours
        </button>
      )}
      {failure && (
        <p class="failed" role="alert">
          {failure.message} {failure.resolution}
        </p>
      )}
    </>
  );
}
