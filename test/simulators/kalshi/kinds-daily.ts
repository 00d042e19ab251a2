import { binary, day, dayCode, type Kind } from './kind.ts';
import { COIN, GAMES, INDEX, WEATHER } from './series.ts';
import { MINUTE_MS, ONE_DOLLAR, timeText } from './units.ts';

interface Band {
  suffix: string;
  from?: number;
  to?: number;
  words: string;
  name: string;
  strike: { type: string; floor?: number; cap?: number };
}

export const weather: Kind = {
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

export const game: Kind = {
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
      // Both markets carry the same title; only the sub-titles distinguish them.
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

export const coin: Kind = {
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

export const index: Kind = {
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
      feeType: 'quadratic_with_maker_fees',
      fixed: { collateral_return_type: '', strike_period: '' },
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
