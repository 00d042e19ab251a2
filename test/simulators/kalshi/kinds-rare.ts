import { binary, day, dayCode, type Kind } from './kind.ts';
import { CHART, COMBO, ELECTION, MENTION, RATE } from './series.ts';
import { timeText } from './units.ts';

export const rate: Kind = {
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

const CANDIDATES = ['Ada Reyes', 'Ben Okafor', 'Carla Voss', 'Dmitri Hale', 'Elena Park'] as const;

export const election: Kind = {
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

export const mention: Kind = {
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

export const chart: Kind = {
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
      feeMultiplier: 2,
      fixed: { collateral_return_type: 'DIRECNET' },
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

export const combo: Kind = {
  series: [COMBO],
  size: 1,
  settlementTimerSeconds: 60,
  build({ rng, legs }) {
    const start = rng.int(0, legs.length);
    const around = [...legs.slice(start), ...legs.slice(0, start)];
    const one = around[0];
    const other = around.find((leg) => leg.eventTicker !== one?.eventTicker);
    const chosen = [one, other].filter((leg) => leg !== undefined);
    const name = chosen.map((leg) => `yes ${leg.name}`).join(',');
    return {
      code: `S${rng.hex(12).toUpperCase()}`,
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
          outcome: binary(chosen.every((leg) => leg.wins)),
          expirationValue: '',
          fixed: {
            strike_type: 'custom',
            custom_strike: { 'Associated Markets': chosen.map((leg) => leg.ticker).join(',') },
            mve_collection_ticker: 'KXMVEMIXED-R',
            mve_selected_legs: chosen.map(({ eventTicker, ticker }) => ({
              event_ticker: eventTicker,
              market_ticker: ticker,
              side: 'yes',
            })),
          },
        },
      ],
    };
  },
};
