import { quoted } from './panel.tsx';

/** What lists and totals of the API leave out: placeholders, and bets on several markets at once. */
export const LISTED = 'NOT is_placeholder AND NOT is_combo';

/** The markets of an event. */
export const sqlOfEvent = (platform: string, eventId: string): string =>
  `SELECT id, title, status, price, price_change_24h, bid, ask, volume_24h_usd, liquidity_usd
FROM v_markets
WHERE platform = ${quoted(platform)} AND event_id = ${quoted(eventId)}
ORDER BY price DESC NULLS LAST`;
