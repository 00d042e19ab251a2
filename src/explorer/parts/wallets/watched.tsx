import { useEffect, useReducer } from 'preact/hooks';
import type { Answers } from '../answers.ts';
import { get, send } from '../api.ts';
import { setQuery, usePlace, walletAddress } from '../url.ts';

const WATCHED = '/v1/api/auth/watched-wallets';
type Watched = Answers[typeof WATCHED];

/** Addresses in lower case; null until they are loaded. */
let watched: ReadonlySet<string> | null = null;
let asking = false;
const listeners = new Set<() => void>();

function keep({ wallets }: Watched): void {
  watched = new Set(wallets.map(({ address }) => address));
  for (const listener of listeners) listener();
}

/** Forgets the wallets of a user who signed out. */
export function forgetWatched(): void {
  watched = null;
  for (const listener of listeners) listener();
}

/** Asks once for all parts of the page; after a failure the next part to appear asks again. */
function ask(): void {
  if (watched !== null || asking) return;
  asking = true;
  get(WATCHED)
    .then(keep, () => {})
    .finally(() => (asking = false));
}

/** The wallets that the user watches, oldest first; null until they are loaded. */
function useWatched(): ReadonlySet<string> | null {
  const [, redraw] = useReducer((n: number) => n + 1, 0);
  useEffect(() => {
    const hear = (): void => redraw(0);
    listeners.add(hear);
    ask();
    return () => void listeners.delete(hear);
  }, []);
  return watched;
}

/** A button that watches a wallet, or stops it. */
export function WatchStar({ address }: { address: string }) {
  const own = address.toLowerCase();
  const isWatched = useWatched()?.has(own) ?? false;
  const turn = async (): Promise<void> => {
    const answer = isWatched
      ? await send<Watched>('DELETE', `${WATCHED}/${own}`)
      : await send<Watched>('POST', WATCHED, { address: own });
    keep(answer);
  };
  return (
    <button
      type="button"
      class="quiet star"
      aria-pressed={isWatched}
      title={isWatched ? 'Stop watching this wallet' : 'Watch this wallet'}
      onClick={() => void turn().catch(() => {})}
    >
      <span aria-hidden="true">{isWatched ? '★' : '☆'}</span>
      <span class="hidden">Watch this wallet</span>
    </button>
  );
}

/** The watched wallets where the address asks for these alone, else null. */
export function useOnlyWatched(): ReadonlySet<string> | null {
  const watched = useWatched();
  const { query } = usePlace();
  return query.get('wallets') === 'watched' ? watched : null;
}

/** Shows trades of watched wallets alone; absent while the user watches none. */
export function OnlyWatched() {
  const watched = useWatched();
  const isOn = useOnlyWatched() !== null;
  if ((watched?.size ?? 0) === 0 && !isOn) return null;
  return (
    <button
      type="button"
      class="quiet"
      aria-pressed={isOn}
      title="Only wallets that you watch"
      onClick={() => setQuery({ wallets: isOn ? '' : 'watched' })}
    >
      {isOn ? '★' : '☆'} Watched
    </button>
  );
}

const shortAddress = (address: string): string => `${address.slice(0, 6)}…${address.slice(-4)}`;

interface Trader {
  address: string;
  name?: string;
  pseudonym?: string;
}

/** Who traded, as a link to the wallet's page; nothing where trades are anonymous. */
export function WalletLink(trader: Trader) {
  return trader.address === '' ? null : <KnownWallet {...trader} />;
}

function KnownWallet({ address, name, pseudonym }: Trader) {
  const isWatched = useWatched()?.has(address.toLowerCase()) ?? false;
  return (
    <a class="wallet" href={walletAddress(address)} title={address}>
      {isWatched && <span aria-label="watched">★ </span>}
      <bdi>{name || pseudonym || shortAddress(address)}</bdi>
    </a>
  );
}
