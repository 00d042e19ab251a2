import { useApi } from './api.ts';

const EVERY_MS = 60_000;

/** Since when every trade of a platform's markets is stored: null if that does not hold for every market, undefined while loading. */
export function useTradesSince(platform: string): string | null | undefined {
  const { data } = useApi('/v1/api/analytics/trending', { platform, limit: 1 }, EVERY_MS);
  const known = data?.meta.data_completeness as Record<string, { trades_complete_from: string | null }> | undefined;
  return known && (known[platform]?.trades_complete_from ?? null);
}
