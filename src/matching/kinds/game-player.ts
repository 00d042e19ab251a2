import type { GameLine, MarketTexts } from '../facts.ts';
import { fullNameOf, generationOf } from '../names.ts';
import { above, relateRanges, withStep, type SetRelation } from '../range.ts';
import { words } from '../text.ts';
import { sideOf, sidesIn } from './game-sides.ts';

/** What a player is counted by: `figure|names`, one a line. Add a line; sums of several figures are lines of their own. */
const FIGURES = `points|points|pts
  rebounds|rebounds|reb
  assists|assists|ast
  threes|threes|three pointers|three pointers made|3 pointers|3 pointers made|3 point field goals
  steals|steals
  blocks|blocks
  points+rebounds+assists|points rebounds assists|pts reb ast|pra
  touchdowns|touchdowns|touchdown|tds|td
  passing touchdowns|passing touchdowns|passing tds|touchdown passes
  passing yards|passing yards
  rushing yards|rushing yards
  receiving yards|receiving yards
  receptions|receptions
  strikeouts|strikeouts|strikeouts thrown|pitcher strikeouts
  hits|hits
  home runs|home runs|home run
  total bases|total bases
  goals|goals|goal
  shots on goal|shots on goal
  shots on target|shots on target
  saves|saves`;

const BY_NAME = new Map(
  FIGURES.split('\n').flatMap((line) => {
    const [figure = '', ...names] = line.trim().split('|');
    return names.map((name) => [name, figure] as const);
  }),
);

type PlayerLine = Extract<GameLine, { on: 'player' }>;

/** Sides before a line: "A at B: Anytime Touchdown Scorer: Name". */
const SIDES_BEFORE = /^[^:]{3,80} (?:vs?\.?|at|@) [^:]{2,60}: (?=.{3,120}$)/i;
const PLUS = /^(.{4,40}): (\d{1,3})\+ (.{2,40})$/;
const OVER_LAST = /^(.{4,40}): (.{2,40}) (?:o\/u|over\/under|over) (\d{1,3}(?:\.5)?)$/i;
const OVER_FIRST = /^(.{4,40}): (?:o\/u|over\/under|over) (\d{1,3}(?:\.5)?) (.{2,40})$/i;
const WILL =
  /^Will (.{4,40}?) (?:record|score|have|get|make) (?:at least )?(?:(\d{1,3})(?:\+| or more)|(?:over|more than) (\d{1,3}(?:\.5)?)) ([a-z0-9 -]{2,40})$/i;
const ANYTIME = /^(?:(.{4,40}): )?Anytime (touchdown|goal)(?: ?scorer)?(?:: (.{4,40})| \((.{4,40})\))?$/i;

/** Who has more than how many of what, as a title states it; null if it is another question. */
function stated(title: string): { player: string; over: number; figure: string } | null {
  const text = title.replace(/\?$/, '').replace(SIDES_BEFORE, '');
  const plus = PLUS.exec(text);
  if (plus) return { player: plus[1] ?? '', over: Number(plus[2]) - 0.5, figure: plus[3] ?? '' };
  const last = OVER_LAST.exec(text);
  if (last) return { player: last[1] ?? '', over: Number(last[3]), figure: last[2] ?? '' };
  const first = OVER_FIRST.exec(text);
  if (first) return { player: first[1] ?? '', over: Number(first[2]), figure: first[3] ?? '' };
  const will = WILL.exec(text);
  if (will) {
    const over = will[2] === undefined ? Number(will[3]) : Number(will[2]) - 0.5;
    return { player: will[1] ?? '', over, figure: will[4] ?? '' };
  }
  const anytime = ANYTIME.exec(text);
  const player = anytime?.[1] ?? anytime?.[3] ?? anytime?.[4];
  return player === undefined ? null : { player, over: 0.5, figure: anytime?.[2] ?? '' };
}

/** How a touchdown or a yard is made, as a ticker says it. */
const TICKER_FIGURE = /^KX[A-Z]*?(PASS|RUSH|REC)(?:TDS?|YDS)/;
/** Tickers of a part of the game, and of who is first or last; 3PT is a figure. */
const TICKER_PART = /^KX[A-Z]*?(?:FIRST|LAST|[1-4][HQP](?!T))/;
/** Rules of a part of the game, of who is first or last, of a season. */
const RULES_OF_PART =
  /\b(?:first|last|opening|1st|2nd|3rd|4th|hal(?:f|ves)|quarters?|periods?|average|per game|(?:in|of|during) the (?:\S+ )?season)\b/i;
/** Rules of what a player lets others do; touchdowns that are thrown have a figure of their own. */
const RULES_OF_OTHERS = /\b(?:allows?|allowed|gives up|at[- ]bats?)\b/i;
const RULES_OF_THROWS = /\b(?:throws?|thrown)\b/i;
/** Names of several players, of sides, and of parts of a game. */
const NOT_ONE =
  / vs?\.? |&|\b(?:and|or|both|each|any|either|an?|teams?|pitchers|players|total|game|match|sides?|hal(?:f|ves)|quarters?)\b/i;
/** What an event says beside its sides without asking for another part of the game. */
const HARMLESS_EVENT = /^(?:player props?|more markets|props?|anytime (?:touchdown|goal) ?scorers?)?$/i;

/** Whether an event is about the whole game: beside its sides it names nothing, or the figure. */
function isOfWholeGame(eventTitle: string, figure: string): boolean {
  const rest = /^[^:]*(?:: | - )(.*)$/.exec(eventTitle)?.[1] ?? '';
  return HARMLESS_EVENT.test(rest) || (sidesIn(eventTitle) !== null && BY_NAME.get(words(rest).join(' ')) === figure);
}

/** The line of one player of a game; null where the title is not about a player. */
export function lineOfPlayer(
  { id, title, eventTitle, rules }: Pick<MarketTexts, 'id' | 'title' | 'eventTitle' | 'rules'>,
  sides: readonly [string, string],
  league: string | null,
): { line: PlayerLine; figure: string } | null {
  const found = stated(title);
  const figure = found && BY_NAME.get(words(found.figure).join(' '));
  if (!found || figure === undefined || figure === null) return null;
  if (NOT_ONE.test(found.player) || sideOf(found.player, sides, league) !== null) return null;
  const [, kind = ''] = TICKER_FIGURE.exec(id) ?? [];
  if (!figure.startsWith(kind.toLowerCase()) || TICKER_PART.test(id) || !isOfWholeGame(eventTitle, figure)) return null;
  if (RULES_OF_PART.test(rules) || RULES_OF_OTHERS.test(rules)) return null;
  if (figure === 'touchdowns' && RULES_OF_THROWS.test(rules)) return null;
  return { line: { on: 'player', player: found.player, over: found.over }, figure };
}

/** How two lines of one figure relate; null where their players may be two. */
export function relatePlayers(a: PlayerLine, b: PlayerLine): SetRelation | null {
  // An initial may be that of two players of one team.
  if (words(a.player).length < 2 || words(a.player)[0]?.length === 1 || fullNameOf(a.player) !== fullNameOf(b.player))
    return null;
  if (
    generationOf(a.player) !== '' &&
    generationOf(b.player) !== '' &&
    generationOf(a.player) !== generationOf(b.player)
  )
    return null;
  const [one, other] = [a, b].map(({ over }) => withStep(above(over, false), 1));
  return one && other ? relateRanges(one, other) : null;
}
