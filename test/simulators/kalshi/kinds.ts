import type { Rng } from '../lib/index.ts';
import { CHART, COIN, COMBO, ELECTION, GAMES, INDEX, MENTION, RATE, WEATHER, type SeriesSpec } from './series.ts';
import { MINUTE_MS, ONE_DOLLAR, timeText } from './units.ts';

/** How a market ends; `value` is the payout of one YES, 0.0001 dollars. */
export interface Outcome {
  result: 'yes' | 'no' | 'scalar';
  value: number;
}

/** A market of an event as its kind words it. */
export interface MarketDraft {
  suffix: string;
  title: string;
  yes: string;
  no: string;
  outcome: Outcome;
  expirationValue: string;
  /** Strike and other optional keys, in wire form. */
  fixed: Record<string, unknown>;
}

export interface EventDraft {
  /** What follows the series in the event's ticker. */
  code: string;
  title: string;
  subTitle: string;
  mutuallyExclusive: boolean;
  /** Optional event keys, in wire form. */
  fixed: Record<string, unknown>;
  markets: MarketDraft[];
}

export interface KindInput {
  rng: Rng;
  series: SeriesSpec;
  closeMs: number;
}

/** A sort of event: which series it belongs to, how many markets it has and how it is worded. */
export interface Kind {
  series: readonly SeriesSpec[];
  size: number;
  settlementTimerSeconds: number;
  build(input: KindInput): EventDraft;
}

const MONTHS = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'];

/** "26NOV21" */
function dayCode(ms: number): string {
  const date = new Date(ms);
  return `${String(date.getUTCFullYear()).slice(2)}${MONTHS[date.getUTCMonth()]}${String(date.getUTCDate()).padStart(2, '0')}`;
}

const binary = (wins: boolean): Outcome => (wins ? { result: 'yes', value: ONE_DOLLAR } : { result: 'no', value: 0 });
const day = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

interface Band {
  suffix: string;
  from?: number;
  to?: number;
  words: string;
  name: string;
  strike: { type: string; floor?: number; cap?: number };
}

const weather: Kind = {
  series: WEATHER,
  size: 4,
  settlementTimerSeconds: 3600,
  build({ rng, series, closeMs }) {
    const city = series.title.replace('Highest temperature in ', '');
    const low = rng.int(40, 90);
    const actual = low - 2 + rng.int(0, 7);
    const bands: Band[] = [
      {
        suffix: `T${low}`,
        to: low - 1,
        words: `<${low}°`,
        name: `${low - 1}° or below`,
        strike: { type: 'less', cap: low },
      },
      ...[low, low + 2].map((from): Band => {
        const strike = { type: 'between', floor: from, cap: from + 1 };
        return {
          suffix: `B${from}.5`,
          from,
          to: from + 1,
          words: `${from}-${from + 1}°`,
          name: `${from}° to ${from + 1}°`,
          strike,
        };
      }),
      {
        suffix: `T${low + 3}`,
        from: low + 4,
        words: `>${low + 3}°`,
        name: `${low + 4}° or above`,
        strike: { type: 'greater', floor: low + 3 },
      },
    ];
    return {
      code: dayCode(closeMs),
      title: `Highest temperature in ${city} on ${day(closeMs)}?`,
      subTitle: `On ${day(closeMs)}`,
      mutuallyExclusive: true,
      fixed: { collateral_return_type: 'MECNET', strike_date: timeText(closeMs * 1000), strike_period: '' },
      markets: bands.map(({ suffix, from, to, words, name, strike }) => ({
        suffix,
        title: `Will the **high temp in ${city}** be ${words} on ${day(closeMs)}?`,
        yes: name,
        no: name,
        outcome: binary(actual >= (from ?? -Infinity) && actual <= (to ?? Infinity)),
        expirationValue: `${actual}.00`,
        // JSON leaves out the strike that is undefined.
        fixed: { subtitle: name, strike_type: strike.type, floor_strike: strike.floor, cap_strike: strike.cap },
      })),
    };
  },
};

const TEAMS = ['Harbor', 'Summit', 'Pines', 'Mesa', 'Rivers', 'Foundry', 'Capital', 'Gulf', 'Plains', 'Bay'] as const;

const code = (team: string): string => team.slice(0, 3).toUpperCase();

const game: Kind = {
  series: GAMES,
  size: 2,
  settlementTimerSeconds: 120,
  build({ rng, series, closeMs }) {
    const home = rng.pick(TEAMS);
    const away = rng.pick(TEAMS.filter((team) => team !== home));
    const tie = rng.chance(0.15);
    const winner = rng.chance(0.5) ? home : away;
    return {
      code: `${dayCode(closeMs)}${code(away)}${code(home)}`,
      title: `${away} at ${home}`,
      subTitle: `${code(away)} at ${code(home)} (${day(closeMs)})`,
      mutuallyExclusive: true,
      fixed: { collateral_return_type: 'MECNET', strike_period: '', product_metadata: series.productMetadata },
      // Both markets carry the same title; only the sub-titles tell them apart.
      markets: [away, home].map((team) => ({
        suffix: code(team),
        title: `${away} at ${home} Winner?`,
        yes: team,
        no: team,
        outcome: tie ? { result: 'scalar', value: ONE_DOLLAR / 2 } : binary(team === winner),
        expirationValue: tie ? 'Tie' : winner,
        fixed: {
          strike_type: 'structured',
          custom_strike: { team: rng.uuid() },
          // The winner is expected hours before the time by which the market must close.
          expected_expiration_time: timeText((closeMs - 90 * MINUTE_MS) * 1000),
          occurrence_datetime: timeText((closeMs - 90 * MINUTE_MS) * 1000),
          early_close_condition: 'This market closes early once a winner is declared.',
        },
      })),
    };
  },
};

const rate: Kind = {
  series: [RATE],
  size: 3,
  settlementTimerSeconds: 300,
  build({ rng, closeMs }) {
    const strikes = [4, 4.25, 4.5];
    const actual = 3.75 + rng.int(0, 4) / 4;
    return {
      code: dayCode(closeMs).slice(0, 5),
      title: `Base rate after the ${day(closeMs).slice(0, 7)} meeting?`,
      subTitle: `In ${day(closeMs).slice(0, 7)}`,
      mutuallyExclusive: false,
      fixed: { collateral_return_type: '', strike_period: '' },
      markets: strikes.map((strike) => ({
        suffix: `T${strike.toFixed(2)}`,
        title: `Will the upper bound of the base rate be above ${strike.toFixed(2)}%?`,
        yes: `Above ${strike.toFixed(2)}%`,
        no: `${strike.toFixed(2)}% or below`,
        outcome: binary(actual > strike),
        expirationValue: actual.toFixed(2),
        fixed: { strike_type: 'greater', floor_strike: strike },
      })),
    };
  },
};

const coin: Kind = {
  series: COIN,
  size: 1,
  settlementTimerSeconds: 60,
  build({ rng, series, closeMs }) {
    const minutes = new Date(closeMs).toISOString().slice(11, 16).replace(':', '');
    const strike = rng.int(2_000_000, 9_000_000) / 100;
    const up = rng.chance(0.5);
    return {
      code: `${dayCode(closeMs)}${minutes}`,
      title: series.title,
      subTitle: `${minutes} UTC`,
      mutuallyExclusive: false,
      fixed: { collateral_return_type: 'binary', strike_date: timeText(closeMs * 1000), strike_period: '' },
      markets: [
        {
          suffix: minutes.slice(2),
          title: `${series.title}?`,
          yes: `Target: $${strike}`,
          no: `Target: $${strike}`,
          outcome: binary(up),
          expirationValue: String(up ? strike + 12.5 : strike - 12.5),
          fixed: { strike_type: 'greater_or_equal', floor_strike: strike },
        },
      ],
    };
  },
};

const CANDIDATES = ['Ada Reyes', 'Ben Okafor', 'Carla Voss', 'Dmitri Hale', 'Elena Park'] as const;

const election: Kind = {
  series: ELECTION,
  size: 5,
  settlementTimerSeconds: 1800,
  build({ rng, series, closeMs }) {
    const winner = rng.int(0, 3);
    return {
      code: String(new Date(closeMs).getUTCFullYear()).slice(2),
      title: `${series.title} winner?`,
      subTitle: `In ${new Date(closeMs).getUTCFullYear()}`,
      mutuallyExclusive: true,
      fixed: { collateral_return_type: 'MECNET', strike_period: '', settlement_sources: null },
      markets: CANDIDATES.map((candidate, at) => ({
        suffix: candidate.replace(/[^A-Z]/g, ''),
        title: `Who will win the ${series.title} race?`,
        yes: candidate,
        no: candidate,
        outcome: binary(at === winner),
        expirationValue: CANDIDATES[winner] ?? '',
        fixed: { strike_type: 'custom', custom_strike: { Candidate: candidate, 'Associated Markets': [] } },
      })),
    };
  },
};

const WORDS = ['Tariff', 'Inflation', 'Recession', 'Housing', 'Energy', 'Balance sheet'] as const;

const mention: Kind = {
  series: [MENTION],
  size: 3,
  settlementTimerSeconds: 600,
  build({ rng, closeMs }) {
    const start = rng.int(0, WORDS.length - 1);
    return {
      code: dayCode(closeMs),
      title: `What will the chair say on ${day(closeMs)}?`,
      subTitle: `On ${day(closeMs)}`,
      mutuallyExclusive: false,
      fixed: { collateral_return_type: '', strike_period: '' },
      markets: [0, 1, 2].map((at) => {
        const word = WORDS[(start + at) % WORDS.length] ?? '';
        const said = rng.chance(0.5);
        return {
          suffix: word.slice(0, 4).toUpperCase(),
          title: `What will the chair say during the press conference?`,
          yes: word,
          no: word,
          outcome: binary(said),
          expirationValue: said ? 'Yes' : 'No',
          fixed: { strike_type: 'functional', functional_strike: word, primary_participant_key: 'word' },
        };
      }),
    };
  },
};

const chart: Kind = {
  series: [CHART],
  size: 3,
  settlementTimerSeconds: 300,
  build({ rng, closeMs }) {
    const winner = rng.int(0, 3);
    return {
      code: dayCode(closeMs),
      title: `Song at number one on ${day(closeMs)}?`,
      subTitle: `Week of ${day(closeMs)}`,
      mutuallyExclusive: true,
      fixed: { collateral_return_type: 'DIRECNET', fee_multiplier_override: 2 },
      markets: ['Paper Lanterns', 'Slow Tide', 'Ninth Floor'].map((song, at) => ({
        suffix: song.replace(/[^A-Z]/g, ''),
        title: `Will **${song}** be number one?`,
        yes: song,
        no: song,
        outcome: binary(at === winner),
        expirationValue: String(winner),
        fixed: {
          strike_type: 'custom',
          custom_strike: { Song: song },
          fee_waiver_expiration_time: at === 0 ? timeText(closeMs * 1000) : undefined,
        },
      })),
    };
  },
};

const index: Kind = {
  series: [INDEX],
  size: 1,
  settlementTimerSeconds: 300,
  build({ rng, closeMs }) {
    const value = rng.int(1, 9999);
    return {
      code: dayCode(closeMs),
      title: `Index at the close on ${day(closeMs)}`,
      subTitle: `On ${day(closeMs)}`,
      mutuallyExclusive: false,
      fixed: { collateral_return_type: '', strike_period: '', fee_type_override: 'quadratic' },
      markets: [
        {
          suffix: 'S',
          title: `Where will the index close on ${day(closeMs)}?`,
          yes: 'Long',
          no: 'Short',
          outcome: { result: 'scalar', value },
          expirationValue: String(4000 + value / 10),
          fixed: { market_type: 'scalar', strike_type: 'between', floor_strike: 4000, cap_strike: 5000 },
        },
      ],
    };
  },
};

const combo: Kind = {
  series: [COMBO],
  size: 1,
  settlementTimerSeconds: 60,
  build({ rng, closeMs }) {
    const legs = [0, 1].map(() => {
      const leg = game.build({ rng, series: GAMES[0] as SeriesSpec, closeMs });
      const market = leg.markets[0] as MarketDraft;
      const event = `KXCOASTGAME-${leg.code}`;
      return { event, ticker: `${event}-${market.suffix}`, name: market.yes };
    });
    const wins = rng.chance(0.2);
    const ticker = `S${rng.hex(12).toUpperCase()}`;
    const name = legs.map((leg) => `yes ${leg.name}`).join(',');
    return {
      code: ticker,
      title: name,
      subTitle: '',
      mutuallyExclusive: false,
      fixed: { collateral_return_type: '', strike_period: '' },
      markets: [
        {
          suffix: rng.hex(10).toUpperCase(),
          title: name,
          yes: name,
          no: name,
          outcome: binary(wins),
          expirationValue: '',
          fixed: {
            strike_type: 'custom',
            custom_strike: { 'Associated Markets': legs.map((leg) => leg.ticker).join(',') },
            mve_collection_ticker: 'KXMVEMIXED-R',
            mve_selected_legs: legs.map((leg) => ({ event_ticker: leg.event, market_ticker: leg.ticker, side: 'yes' })),
          },
        },
      ],
    };
  },
};

export const KINDS = { weather, game, rate, coin, election, mention, chart, index, combo } as const;
export type KindName = keyof typeof KINDS;
