import { textParam } from '../../core/fields.ts';
import { marketKey } from '../../core/market-key.ts';
import { PLATFORMS } from '../../core/model.ts';
import type { Values } from '../../http/read-input.ts';
import { eventsNamed } from '../../markets/directory.ts';
import { anyMarket } from '../../markets/lookup.ts';
import { categorySlug } from '../../platforms/categories.ts';
import type { MatchFilter } from '../../present/read-matches.ts';
import { eventIdParam, marketIdParam, optionalPlatformParam } from '../../schemas/parameters.ts';
import type { Services } from '../services.ts';

/** Parameters that choose matches. */
export const matchParams = {
  market_id: marketIdParam().optional().describe('Only matches of this market'),
  event_id: eventIdParam('Only matches with a market of this event').optional(),
  platform: optionalPlatformParam().describe(
    'Only matches with a market of this platform. With market_id or event_id: the platform of that one',
  ),
  category: textParam().optional().describe('Only matches with a market of this category, by its slug'),
};

/** The filter of these parameters; 404 if the market is known nowhere. */
export async function matchFilter(
  services: Services,
  query: Partial<Values<typeof matchParams>>,
  user: string,
): Promise<MatchFilter> {
  const { market_id: marketId, event_id: eventId, platform, category } = query;
  const market = marketId === undefined ? null : await anyMarket(services, platform, marketId, user);
  return {
    ...(market ? { keys: [marketKey(market)] } : {}),
    ...(eventId === undefined ? {} : { events: eventsNamed(platform ? [platform] : PLATFORMS, eventId) }),
    platform,
    category: category === undefined ? undefined : categorySlug(category),
  };
}
