import { useApi } from './api.ts';

let known: readonly string[] | null = null;

/** The platforms that this service reads, in its order; null until it has said so. */
export function usePlatforms(): readonly string[] | null {
  const { data } = useApi('/v1/api/health', known === null ? {} : null);
  if (data) known ??= data.checks.flatMap(({ platform }) => platform ?? []);
  return known;
}
