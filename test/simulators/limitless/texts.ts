import type { Rng } from '../lib/index.ts';

/** Made-up questions in the shapes of the platform's own. */
export interface Question {
  title: string;
  categories: string[];
  domain: string | null;
  tags: string[];
}

const PLACES = ['Norland', 'Estmark', 'Varda', 'Sol Island', 'Kestria', 'Lower Arvel', 'Marovia', 'Tyrene'];
const COINS = ['BTC', 'ETH', 'SOL', 'DOGE', 'HYPE', 'BNB'];
const FIRMS = ['Aldane Motors', 'Brightwell', 'Corvid Labs', 'Deltaframe', 'Hexley', 'Orbita'];
const TEAMS = [
  'Harbor FC',
  'Real Quinto',
  'Northgate',
  'Sporting Vela',
  'Dynamo Pell',
  'Atletico Rho',
  'Kings of Ost',
  'Ravens',
];

const QUESTIONS: ((rng: Rng) => Question)[] = [
  (rng) => ask(`Will the government of ${rng.pick(PLACES)} fall before 2027?`, ['Politics'], 'politics', ['Limitless']),
  (rng) =>
    ask(`Rate cut by the central bank of ${rng.pick(PLACES)} in Q${rng.int(1, 4)}?`, ['Economy'], null, [
      'challenge_rates',
    ]),
  (rng) =>
    ask(
      `💎 ${rng.pick(COINS)} above $${rng.int(1000, 99999)} by the end of Q${rng.int(1, 4)}?`,
      ['Monthly', 'Crypto'],
      'crypto',
      ['Pareto'],
    ),
  (rng) => ask(`${rng.pick(FIRMS)} market cap above $${rng.int(2, 900)}B?`, ['Company News', 'Finance'], 'finance', []),
  (rng) => ask(`“${rng.pick(FIRMS)}” named film of the year in ${rng.pick(PLACES)}?`, ['Culture'], null, ['Limitless']),
];

const ask = (title: string, categories: string[], domain: string | null, tags: string[]): Question => ({
  title,
  categories,
  domain,
  tags,
});

/** A question for a market that people write by hand; every subject has its turn. */
export const manualQuestion = (rng: Rng, turn: number): Question =>
  (QUESTIONS[turn % QUESTIONS.length] as (rng: Rng) => Question)(rng);

/** Two teams that meet. */
export function fixture(rng: Rng): { home: string; away: string } {
  const home = rng.pick(TEAMS);
  return { home, away: rng.pick(TEAMS.filter((team) => team !== home)) };
}

export const manualHtml = (title: string): string =>
  `<p>This market will resolve to “Yes” if the answer to “${title.replace(/&/g, '&amp;')}” is affirmative. Otherwise, it will resolve to “No”.</p>` +
  `<p><br></p><p>The resolution source is a <a href="https://example.com/sources" rel="noopener noreferrer" target="_blank">consensus of credible reporting</a>.&nbsp;</p>`;

export const sportsText = (title: string): string =>
  `${title}\n\nResolves according to the official result after regular time.\nIf the match is abandoned, resolves 50-50.`;

export function lumyHtml(symbol: string, startMs: number, endMs: number, openPrice: string | null): string {
  const link = `<a href="https://data.chain.link/streams/${symbol.toLowerCase()}-usd-cexprice-streams" target="_blank" rel="noopener noreferrer">Chainlink ${symbol}/USD</a>`;
  const captured =
    openPrice === null
      ? ''
      : `<p><br></p><p>The ${link} price captured on ${minuteText(startMs)} was $${openPrice}.</p>`;
  return (
    `<p>This market will resolve to "Up" if the ${link} price on ${minuteText(endMs)} is greater than or equal to the price captured on ${minuteText(startMs)}. ` +
    `Otherwise, this market will resolve to "Down".</p><p><br></p><p>Resolution source: ${link} data stream.</p>${captured}`
  );
}

const minuteText = (ms: number): string => `${displayDate(ms)} at ${new Date(ms).toISOString().slice(11, 16)} UTC`;
const DISPLAY = new Intl.DateTimeFormat('en-US', { timeZone: 'UTC', month: 'short', day: 'numeric', year: 'numeric' });

/** "Oct 12, 2026": the display form of a date that stands beside the machine value. */
export const displayDate = (ms: number): string => DISPLAY.format(ms);
