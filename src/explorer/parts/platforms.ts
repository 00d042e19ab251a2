import { useEffect, useState } from 'preact/hooks';
import { get } from './api.ts';

let known: Promise<readonly string[]> | undefined;

/** The platforms that this service reads, in its order; null until it has said so. */
export function usePlatforms(): readonly string[] | null {
  const [platforms, setPlatforms] = useState<readonly string[] | null>(null);
  useEffect(() => {
    known ??= get('/v1/api/health').then(({ checks }) => checks.flatMap(({ platform }) => platform ?? []));
    known.then(setPlatforms, () => (known = undefined));
  }, []);
  return platforms;
}
