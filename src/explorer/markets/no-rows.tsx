import { useEffect } from 'preact/hooks';
import { get, useRepeated } from '../parts/api.ts';
import { readHealth } from '../parts/platforms.ts';
import { Num, PlatformName } from '../parts/show.tsx';
import { setQuery, usePlace, walletAddress } from '../parts/url.ts';
import type { MarketList } from './market-list.ts';

const EVERY_MS = 5000;
const WALLET = /(?<=^\s*)0x[0-9a-f]{40}(?=\s*$)/i;

/** What stands in place of the rows: that they are loading, that nothing is stored yet, or that nothing matches. */
export function NoRows({ list, status }: { list: MarketList; status: string }) {
  const { query } = usePlace();
  const wallet = WALLET.exec(query.get('q') ?? '')?.[0];
  const health = useRepeated('health', readHealth, EVERY_MS);
  const checks = health.data?.checks ?? [];
  const syncing = checks.flatMap(({ platform, lag_seconds: lag }) => (platform && lag === null ? [platform] : []));
  if (syncing.length > 0) return <FirstSync platforms={syncing} reload={list.reload} />;
  if (list.loading) return <p class="notice muted">Loading …</p>;
  if (wallet !== undefined)
    return (
      <p class="notice muted">
        No market has this address. <a href={walletAddress(wallet)}>Show the wallet {wallet}</a>
      </p>
    );
  return (
    <p class="notice muted">
      No market matches this search and these filters.{' '}
      {status !== 'any' && (
        <button type="button" class="quiet" onClick={() => setQuery({ status: 'any' })}>
          Search markets of any status
        </button>
      )}
    </p>
  );
}

/** The first sync of platforms, and how far it is; the list is asked for again until it has rows. */
function FirstSync({ platforms, reload }: { platforms: readonly string[]; reload: () => void }) {
  const stored = useRepeated(
    `first sync ${platforms.join(',')}`,
    (signal) =>
      Promise.all(
        platforms.map(async (provider) => {
          const { pagination } = await get('/v1/api/markets', { provider, limit: 1 }, signal);
          return [provider, pagination.total] as const;
        }),
      ),
    EVERY_MS,
  );
  const counts = new Map(stored.data);
  useEffect(() => {
    const timer = setInterval(reload, EVERY_MS);
    return () => clearInterval(timer);
  }, []);
  return (
    <div class="notice" role="status">
      <p>The first sync is running. Markets appear here as they are stored.</p>
      <ul>
        {platforms.map((platform) => (
          <li key={platform}>
            <PlatformName platform={platform} />: <Num value={counts.get(platform) ?? 0} /> markets so far
          </li>
        ))}
      </ul>
    </div>
  );
}
