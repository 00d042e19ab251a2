import type { Answers } from './answers.ts';
import { call, useRepeated, type Loaded } from './api.ts';

const HEALTH = '/v1/api/health';
type Health = Answers[typeof HEALTH];
const AGAIN_MS = 5000;

/** Reads /health. A 503 has the same body, and is when it is needed most. */
export async function readHealth(signal: AbortSignal): Promise<Health> {
  return (await (await call(HEALTH, { signal }, [503])).json()) as Health;
}

let known: readonly string[] | null = null;

/** The platforms of this service, in its order, or the failure to load them. */
export function useListOfPlatforms(): Loaded<readonly string[]> {
  const asked = useRepeated(
    known === null ? HEALTH : null,
    async (signal) => {
      const { checks } = await readHealth(signal);
      const names = checks.flatMap(({ platform }) => platform ?? []);
      if (names.length > 0) known ??= names;
      return known;
    },
    AGAIN_MS,
  );
  return { ...asked, data: known ?? undefined, loading: known === null && asked.failure === undefined };
}

/** The platforms; null until they are loaded. */
export const usePlatforms = (): readonly string[] | null => useListOfPlatforms().data ?? null;
