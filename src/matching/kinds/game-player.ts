import type { GameLine } from '../facts.ts';
import { fullNameOf } from '../names.ts';
import { above, relateRanges, withStep, type SetRelation } from '../range.ts';
import { words } from '../text.ts';
import { sideOf } from './game-sides.ts';

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
  /^Will (.{4,40}?) (?:record|score|have|get|make|throw|throw for|rush for) (?:at least )?(?:(\d{1,3})(?:\+| or more)|(?:over|more than) (\d{1,3}(?:\.5)?)) ([a-z0-9 -]{2,40})$/i;
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

/** The line of one player of a game; null where the title is not about a player. */
export function lineOfPlayer(
  title: string,
  sides: readonly [string, string],
  league: string | null,
): { line: PlayerLine; figure: string } | null {
  const found = stated(title);
  const figure = found && BY_NAME.get(words(found.figure).join(' '));
  if (!found || figure === undefined || figure === null) return null;
  if (/ vs?\.? |\b(?:team|total|game|match)\b/i.test(found.player) || sideOf(found.player, sides, league) !== null)
    return null;
  return { line: { on: 'player', player: found.player, over: found.over }, figure };
}

/** How two lines of one figure relate; null where their players may be two. */
export function relatePlayers(a: PlayerLine, b: PlayerLine): SetRelation | null {
  if (words(a.player).length < 2 || fullNameOf(a.player) !== fullNameOf(b.player)) return null;
  const [one, other] = [a, b].map(({ over }) => withStep(above(over, false), 1));
  return one && other ? relateRanges(one, other) : null;
}
