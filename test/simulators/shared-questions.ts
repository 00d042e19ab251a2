import type { KalshiWorld } from './kalshi.ts';
import type { LimitlessWorld } from './limitless/world.ts';
import type { PolymarketWorld } from './polymarket.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const LEVEL = '100,000';

interface Worlds {
  kalshi: { world: KalshiWorld };
  polymarket: { world: PolymarketWorld };
  limitless: { world: LimitlessWorld };
}

const DAY_WORDS = new Intl.DateTimeFormat('en-US', {
  timeZone: 'America/New_York',
  month: 'long',
  day: 'numeric',
  year: 'numeric',
});
const dayWords = (ms: number): string => DAY_WORDS.format(ms);

/**
 * Lists questions that the platforms share, each in its platform's own words, and traps beside them: the same game with a spread, the same
 * teams a week later, the same price an hour later.
 */
export function shareQuestions({ kalshi, polymarket, limitless }: Worlds): void {
  shareGame(kalshi.world, polymarket.world, limitless.world);
  sharePrice(polymarket.world, limitless.world);
}

/** A winner on all three; Limitless names the other side first, so that its Yes is the other's No. */
function shareGame(kalshi: KalshiWorld, polymarket: PolymarketWorld, limitless: LimitlessWorld): void {
  const { exchange } = kalshi;
  // In the afternoon of New York, so that it is one day there and in UTC.
  const endMs = Math.floor(exchange.nowMs / DAY_MS) * DAY_MS + 3 * DAY_MS + 20 * HOUR_MS;
  const ticker = kalshi.createMarket('game', { lifeMs: endMs - exchange.nowMs });
  const { title, closeMs, seriesTicker, yesBid, yesAsk } = kalshi.market(ticker);
  // The first market is that of the side away: the other platforms begin near its price.
  const middle = Math.min(0.9, Math.max(0.1, (Number(yesBid ?? 0) + Number(yesAsk ?? 1)) / 2));
  const sport = seriesTicker === 'KXCOASTGAME' ? 'Basketball' : 'Baseball';
  const [away = '', home = ''] = title.replace(' Winner?', '').split(' at ');
  // The exchange closes a game's market an hour and a half after the winner is expected.
  const startMs = closeMs - 1.5 * HOUR_MS;
  const listed = (question: string, outcomes: [string, string], gameStartMs: number): void => {
    const event = polymarket.createEvent({
      title: `${away} vs. ${home}`,
      tags: [polymarket.catalog.tag('Sports'), polymarket.catalog.tag(sport)],
      startTimeMs: gameStartMs,
      endMs: gameStartMs + 7 * DAY_MS,
    });
    const description = `In the upcoming ${sport.toLowerCase()} game between ${away} and ${home}, this market resolves to the side that wins.`;
    const mid = middle.toFixed(2);
    polymarket.createMarket(
      { question, outcomes, description, mid, gameStartMs, endMs: gameStartMs + 7 * DAY_MS },
      event,
    );
  };
  listed(`${away} vs. ${home}`, [away, home], startMs);
  listed(`Spread: ${away} (-3.5)`, [away, home], startMs);
  listed(`${away} vs. ${home}`, [away, home], startMs + 7 * DAY_MS);
  limitless.createMarket({
    title: `${sport}, ${home} vs ${away}, ${dayWords(startMs)}`,
    automationType: 'sports',
    categories: ['Sports', sport],
    tags: ['Sports'],
    fairTick: Math.round((1 - middle) * 1000),
    expiresAt: startMs + 3 * HOUR_MS,
  });
}

/** A price at one instant, by the same source; and the same level an hour later. */
function sharePrice(polymarket: PolymarketWorld, limitless: LimitlessWorld): void {
  const day = dayWords(polymarket.now() + 2 * DAY_MS);
  const rules = (hour: string): string =>
    `This market resolves to Yes if the Binance BTC/USDT close of the one minute candle at ${hour} ET on ${day} is above ${LEVEL}. Otherwise it resolves to No.`;
  for (const hour of ['12PM', '1PM']) {
    const question = `Bitcoin above ${LEVEL} on ${day}, ${hour} ET?`;
    polymarket.createMarket({ question, description: rules(hour), mid: '0.42', endMs: polymarket.now() + 2 * DAY_MS });
  }
  limitless.createMarket({
    title: `Will the price of BTC be above $${LEVEL} on ${day}, 12PM ET?`,
    description: `<p>${rules('12PM')}</p>`,
    categories: ['Crypto'],
    fairTick: 430,
    expiresAt: polymarket.now() + 2 * DAY_MS,
  });
}
