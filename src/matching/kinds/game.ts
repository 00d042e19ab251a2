import { dayOf, HOUR_MS, DAY_MS } from '../../core/time.ts';
import { addDays, datesIn, dayInNewYork, newYorkMs } from '../dates.ts';
import type { Fact, Facts, GameLine, MarketTexts } from '../facts.ts';
import {
  esportIn,
  hasSeveralGames,
  isOneOfTwo,
  leagueIn,
  lengthByRules,
  mayBeDrawn,
  metricIn,
  periodIn,
} from '../tables/sports.ts';
import { quote, words } from '../text.ts';
import { payOfDraw } from './game-draw.ts';
import { lineOfPlayer } from './game-player.ts';
import { asksSeries, hasMore, namesIn } from './game-rest.ts';
import { sideName, sideOf, sideOfTicker, sidesIn, TICKER } from './game-sides.ts';

/** The start in New York, and which of two games of a day it is. */
const TICKER_TIME = /-\d{2}[A-Z]{3}\d{2}(\d{2})(\d{2})[A-Z]{3,14}?(?:G([12]))?-/;
const TICKER_DAY = /-(\d{2})([A-Z]{3})(\d{2})(?:\d{4})?[A-Z]/;
const US_LEAGUES = ['mlb', 'nba', 'nfl', 'nhl'];

/** The day of the game in its own country: of the ticker, of a title, else of the start. `eve`: it may be the day before. */
function dayOfGame(market: MarketTexts): { day: Fact; eve?: Fact } | null {
  const ticker = TICKER_DAY.exec(market.id) ?? TICKER_DAY.exec(market.eventId);
  if (ticker) {
    const [day] = datesIn(`${ticker[2]} ${ticker[3]}, 20${ticker[1]}`, null);
    if (day) return { day: { value: day.from, quote: market.id } };
  }
  const near = market.startsAtMs ?? market.endsAtMs;
  for (const text of [market.title, market.eventTitle, market.slug]) {
    const day = datesIn(text, near === null ? null : dayOf(near)).find((each) => each.unit === 'day');
    if (day) return { day: { value: day.from, quote: quote(text) } };
  }
  if (market.startsAtMs === null) return null;
  const start = new Date(market.startsAtMs).toISOString();
  const day = { value: dayInNewYork(market.startsAtMs), quote: start };
  // Seven in the evening of New York's winter is midnight UTC; midnight may also stand for a day without a time.
  return start.endsWith('T00:00:00.000Z') ? { day, eve: { value: addDays(day.value, -1), quote: start } } : { day };
}

/** The start where a record states its time of day; teams of baseball play twice on some days. */
function startOf(market: MarketTexts): Fact | null {
  const ticker = TICKER_TIME.exec(market.id);
  const day = dayOfGame(market)?.day.value;
  if (ticker && day !== undefined) {
    const ms = newYorkMs(day, Number(ticker[1]) * 60 + Number(ticker[2]));
    return { value: new Date(ms).toISOString(), quote: market.id };
  }
  const [start, end] = [market.startsAtMs, market.endsAtMs];
  if (start === null || start % DAY_MS === 0 || market.id.startsWith('KX')) return null;
  // A record of hours may be that of trading, which begins before the game.
  if (end !== null && end > start && end - start < 26 * HOUR_MS) return null;
  const value = new Date(start).toISOString();
  return { value, quote: value };
}

const number = (text: string | undefined): number => Number((text ?? '').replaceAll(',', ''));

/** What a market asks besides that both sides score. */
const WITH_BOTH =
  /\b(?:half|halves|wins?|beats?|result|draws?|ties?|over|under|o\/u|no goal|neither|first|\d+\+|goals?)\b/i;

/** A result and a number of points in one title are two conditions. */
const RESULT = /\b(?:wins?|beats?|result|draws?)\b/i;
const NUMBERS = /\b(?:(?:o\/u|over|under|more than|fewer than|less than) \d|\d{1,3}\+ )/i;

/** A margin, a total or a score that the title states; "A wins 2-1" does not say which side comes first. */
function lineOfNumbers(title: string, sides: readonly [string, string], league: string | null): GameLine | null {
  const exact = /\b(?:exact|correct) score\b(?!.*\bwins? \d).*?\b(\d{1,2}) ?- ?(\d{1,2})\b/i.exec(title);
  if (exact) return { on: 'score', score: [number(exact[1]), number(exact[2])] };
  if (/\bboth (?:teams|.{2,50}? and .{2,50}?) (?:to )?score\b|\bbtts\b/i.test(title)) {
    return WITH_BOTH.test(title) ? { on: 'other', words: title } : { on: 'both_score' };
  }
  const spread = /(?:^|: ?)([^:()]{2,60}?) \(?([+-]\d{1,3}(?:\.5|\.0)?)(?:\)|\??$)/.exec(title);
  if (spread) {
    const side = sideOf(spread[1] ?? '', sides, league);
    return side === null ? { on: 'other', words: title } : { on: 'margin', side, over: -Number(spread[2]) };
  }
  const margin = /(?:will )?(.{2,60}?) wins? by (?:over |more than )?(\d{1,3}(?:\.\d)?)(\+| or more)?/i.exec(title);
  if (margin) {
    const side = sideOf(margin[1] ?? '', sides, league);
    const over = Number(margin[2]) - (margin[3] ? 0.5 : 0);
    const isStated = margin[3] !== undefined || /\bby (?:over|more than)\b/i.test(title);
    return side === null || !isStated ? { on: 'other', words: title } : { on: 'margin', side, over };
  }
  if (RESULT.test(title) && NUMBERS.test(title)) return { on: 'other', words: title };
  const total =
    /(.*?)\b(?:o\/u|over\/under) (\d{1,3}(?:\.\d)?)/i.exec(title) ??
    /(.*?)\b(?:over|more than) (\d{1,3}(?:\.\d)?) (?:total |combined )?(?:goals|runs|points|corners|cards|games|sets|rounds)/i.exec(
      title,
    );
  if (total) return totalLine(total[1] ?? '', Number(total[2]), sides, league);
  const plus = /(.*?)\b(\d{1,3})\+ (?:total )?(?:goals|runs|points|corners|cards|games|sets|rounds)/i.exec(title);
  if (plus) return totalLine(plus[1] ?? '', Number(plus[2]) - 0.5, sides, league);
  const under =
    /(.*?)\b(?:under|fewer than|less than) (\d{1,3}(?:\.\d)?) (?:total |combined )?(?:goals|runs|points|corners|cards|games|sets|rounds)/i.exec(
      title,
    );
  if (!under) return null;
  const line = totalLine(under[1] ?? '', Number(under[2]), sides, league);
  return line.on !== 'other' ? ({ ...line, under: true } as GameLine) : line;
}

const BOTH =
  /^(?:|will(?: there be)?|there be|(?:the )?total(?: (?:goals|runs|points|games|sets|rounds|corners|cards))?|(?:game|match) total|1h|2h|(?:1st|first|2nd|second) half|f5|team total)$/i;

/** A total of both sides, or of the one whose name alone stands before it: "Team: " too, where a player's would be no line of the game. */
function totalLine(before: string, over: number, sides: readonly [string, string], league: string | null): GameLine {
  const parts = before.split(/: ?| - /).map((part) => part.replace(/[,(]? ?$/, '').trim());
  const own = parts.findLast((part) => part !== '') ?? '';
  if (BOTH.test(own) || / vs?\.? /i.test(own)) return { on: 'total', over };
  const name = own
    .replace(/^will (?:the )?/i, '')
    .replace(/ ?\b(?:team total|total|to score|scores?)\b.*$/i, '')
    .trim();
  const side = sideOf(name, sides, league);
  return side === null ? { on: 'other', words: before } : { on: 'side_total', side, over };
}

/** The total that the rules of "A vs B: Total Points" state. */
function totalOfRules(market: MarketTexts): GameLine | null {
  if (!/\btotals?\b/i.test(market.title)) return null;
  const stated = /\bcollectively score (?:more than|over) (\d{1,3}(?:\.\d)?)\b/i.exec(market.rules);
  return stated ? { on: 'total', over: Number(stated[1]) } : null;
}

/** Where a title leaves the line to the end of its ticker: 2 is over 2.5 goals. Other sports number their lines otherwise. */
function lineOfSuffix(market: MarketTexts, sport: string | null): GameLine | null {
  if (/^KX[A-Z0-9]*TOTAL-/.test(market.id) && market.strike?.low) return { on: 'total', over: market.strike.low };
  const number = /^KX[A-Z0-9]*TOTAL-.*-(\d{1,2})$/.exec(market.id)?.[1];
  return number !== undefined && sport === 'soccer' ? { on: 'total', over: Number(number) + 0.5 } : null;
}

const NO_WINNER =
  /\b(?:to nil|both halves|either half|double chance|(?:or|and) (?:a )?(?:draw|tie)|draw no bet|no bet|(?:correct|exact|final) score|margin|wins? by|by exactly|scorer|first (?:goal|touchdown|basket|set|blood)|straight sets|and (?:both|over|under)|from behind|decision|toss|in \d|(?<![\d-])\d ?- ?\d(?![\d-])|most|highest|distance|method|knockout|\bko\b|tko|submission|overtime|extra innings|first to|last to|scores? first|race to|odd|even|run scored|player|mvp|lead|comeback|clean sheet|shutout|attendance|hat trick|advance|qualify|progress|lift)\b/i;

/** The winner or draw that the market is about. */
function lineOfResult(
  market: MarketTexts,
  sides: readonly [string, string],
  league: string | null,
  isTwoWay: boolean,
): GameLine | null {
  const { title } = market;
  if (NO_WINNER.test(title)) return { on: 'other', words: title };
  if (
    /\b(?:end|ends|finish) in a (?:draw|tie)\b|\bdraw at half ?time\b|\bwill (?:tie|draw) win\b|: (?:draw|tie)\??$/i.test(
      title,
    )
  )
    return { on: 'draw' };
  const named = namesIn(market);
  for (const name of named) {
    if (!name || /^(?:yes|no|up|down|over|under)$/i.test(name)) continue;
    if (/^(?:draw|tie)$/i.test(name)) return { on: 'draw' };
    const side = / vs?\.? /i.test(name) ? null : sideOf(name, sides, league);
    if (side !== null) return { on: 'winner', side };
  }
  const ticker = sideOfTicker(market.id, sides, league);
  if (ticker !== null) return ticker === 'draw' ? { on: 'draw' } : { on: 'winner', side: ticker };
  const isPlain =
    / vs?\.? | @ /i.test(title) &&
    !/\bwill\b|\?|: [^:]*$/i.test(title.replace(/^[^:]{2,40}: (?=.{2,80} vs?\.? )/i, ''));
  const first = market.outcomes[0];
  const firstSide = first === undefined ? null : sideOf(first, sides, league);
  if (firstSide !== null) return { on: 'winner', side: firstSide };
  return isPlain && isTwoWay && !TICKER.test(market.id) ? { on: 'winner', side: 0 } : null;
}

/** Series of Kalshi without totals of games: "30+ points" there are those of a player, whom the outcome alone may name. */
const NO_TOTALS = /^KX(?![A-Z0-9]*TOTAL)/;

const WOMENS_LEAGUES: ReadonlySet<string> = new Set(['wnba', 'nwsl', 'uwcl', 'wsl']);
const WOMENS = /\bwomen'?s?\b|\(w\)|\bladies\b|\bwfc\b/i;
/** Rules name the game as one of women; they may also say that theirs does not count. */
const WOMENS_RULES =
  /(?<!\bnot (?:\w+ ){0,3})(?:\bwomen's (?:\w+ ){0,3}(?:game|match|singles|doubles|friendly|fixture)\b|\b(?:game|match|fixture) (?:\w+ ){0,2}of (?:the )?women\b)/i;
const MENS_RULES = /\bmen's (?:\w+ ){0,3}(?:game|match|singles|doubles|friendly|fixture)\b/i;
const WOMENS_SLUG = /^(?:cwbb|wnba|nwsl|wsl|uwcl|cricw|wwc)-/;
const WOMENS_TICKER = /^KX(?:NCAAWB|WNBA|NWSL|UWCL|WCBB|WPL)/;

/** The part of the game that the series of a ticker names. */
const TICKER_PART = /^KX[A-Z0-9]*?(1H|2H|1Q|2Q|3Q|4Q|F5)(?:SPREAD|TOTAL|WINNER|TEAMTOTAL)?-/;

/** Games: a result, line, total or score, of the whole game or of a part. 'open': a game whose title asks what no rule knows. */
export function gameFacts(market: MarketTexts): Facts | 'open' | null {
  const sides = sidesIn(market.eventTitle) ?? sidesIn(market.title);
  if (!sides) return null;
  const heading = `${market.title} ${market.eventTitle}`;
  const named = leagueIn(
    words(
      `${market.id.split('-')[0]} ${market.seriesId} ${heading} ${market.slug.split('-')[0]} ${market.category}`,
    ).join(' '),
  );
  const rules = market.rules.slice(0, 600);
  const league =
    named.league ??
    // The rules may name the game that is played.
    (named.sport === null || hasSeveralGames(named.sport) ? esportIn(words(rules).join(' ')) : null) ??
    US_LEAGUES.find((each) =>
      sides.every((side) => sideName(each, side).startsWith(`${each}:`) && words(side).length > 1),
    ) ??
    null;
  const sport = named.sport ?? leagueIn(league ?? '').sport;
  const when = dayOfGame(market);
  if (!when) return null;
  const start = sport === 'baseball' ? startOf(market) : null;
  const isWomens =
    (league !== null && WOMENS_LEAGUES.has(league)) ||
    WOMENS.test(`${heading} ${market.category}`) ||
    (WOMENS_RULES.test(rules) && !MENS_RULES.test(rules)) ||
    WOMENS_TICKER.test(market.id) ||
    WOMENS_SLUG.test(market.slug);
  const ticker = TICKER_PART.exec(market.id)?.[1] ?? '';
  const folded = words(`${heading} ${ticker}`).join(' ');
  const nth = sport === 'baseball' ? TICKER_TIME.exec(market.id)?.[3] : undefined;
  const part = periodIn(folded, sport);
  const period =
    nth !== undefined && part === 'full' ? `game_${nth}` : part === 'full' ? lengthByRules(market.rules, sport) : part;
  // A side may be called as what is counted: the Aces.
  const metric = metricIn(words(sides.reduce((rest, side) => rest.replaceAll(side, ' '), heading)).join(' '));
  const isDrawn = mayBeDrawn(sport, league, folded) || !(period === 'full' || isOneOfTwo(sport, period));
  const result = (): GameLine | null =>
    metric === 'score'
      ? lineOfResult(market, sides, league, !isDrawn || sport === 'esports')
      : { on: 'other', words: market.title };
  const numbers = lineOfNumbers(market.title, sides, league);
  const isOfPlayer = numbers?.on === 'total' && metric === 'score' && NO_TOTALS.test(market.id);
  const ofPlayer = lineOfPlayer(market, sides, league);
  const stated = ofPlayer?.line ?? numbers ?? totalOfRules(market) ?? lineOfSuffix(market, sport) ?? result();
  if (!stated) return null;
  const first = market.outcomes[0];
  const firstSide = first === undefined ? null : sideOf(first, sides, league);
  const isTurned = 'side' in stated && firstSide !== null && firstSide !== stated.side;
  const isOther = stated.on === 'other' || (isOfPlayer && !ofPlayer) || isTurned || asksSeries(market, sport);
  if (!isOther && !ofPlayer && hasMore(market, sides, stated, { league, sport })) return 'open';
  const line = isOther ? { on: 'other' as const, words: market.title } : stated;
  const shown = quote(market.title);
  const draw = payOfDraw(market.rules);
  return {
    kind: 'game',
    topic: {
      sides: {
        value: sides.map((side) => sideName(league, side)).join(' vs '),
        quote: quote(market.eventTitle || market.title),
      },
      ...(league ? { league: { value: league, quote: shown } } : {}),
      ...(sport ? { sport: { value: sport, quote: shown } } : {}),
      ...(isWomens && sport !== 'tennis'
        ? { gender: { value: 'women', quote: quote(WOMENS_RULES.exec(rules)?.[0] ?? market.title) } }
        : {}),
      day: when.day,
      ...(start ? { start } : {}),
      ...(when.eve && sport !== 'baseball' ? { eve: when.eve } : {}),
      period: { value: period, quote: shown },
      metric: { value: line.on === 'other' ? 'other' : ofPlayer ? `player ${ofPlayer.figure}` : metric, quote: shown },
    },
    claim: { value: line.on, quote: shown, of: { type: 'game', line, sides, drawn: isDrawn } },
    window: null,
    source: null,
    tails: draw === null ? [] : [draw],
  };
}
