import { quoted } from './panel.tsx';

/** The markets of an event. */
export const sqlOfEvent = (platform: string, eventId: string): string =>
  `SELECT id, title, status, price, price_change_24h, bid, ask, volume_24h, liquidity
FROM v_markets
WHERE platform = ${quoted(platform)} AND event_id = ${quoted(eventId)}
ORDER BY price DESC NULLS LAST`;
