import type { PlatformReply } from '../http/request.ts';
import { type AdapterDeps, type ReadContext, requestOf } from '../contract.ts';
import type { LimitlessUrl } from './manifest.ts';

export interface LimitlessClient {
  get(path: string, query: Record<string, string | number>, context: ReadContext): Promise<PlatformReply>;
}

/** Public reads; all of Limitless shares one budget. */
export const createLimitlessClient = ({
  http,
  settings,
}: Pick<AdapterDeps<LimitlessUrl>, 'http' | 'settings'>): LimitlessClient => ({
  get(path, query, context) {
    const parameters = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) parameters.set(name, String(value));
    return http.send({
      platform: 'limitless',
      group: 'limitless:all',
      method: 'GET',
      url: `${settings.LIMITLESS_API_URL}${path}${parameters.size > 0 ? `?${parameters}` : ''}`,
      shareTaken: context.shareTaken,
      ...requestOf(context),
    });
  },
});
