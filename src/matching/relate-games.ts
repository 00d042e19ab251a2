import { within } from './dates.ts';
import type { Facts, Reason } from './facts.ts';
import { relateLines, swapped } from './kinds/game-lines.ts';
import { sideOf } from './kinds/game-sides.ts';
import { VERDICT, type Related } from './related.ts';
import { hasSeveralGames, isOneOfTwo, mayRepeatNextDay } from './tables/sports.ts';

/** How two markets about games relate: the same sides on the same day, then every score tried. */
export function relateGames(a: Facts, b: Facts): Related {
  const reasons: Reason[] = [];
  const [one, other] = [a.claim.of, b.claim.of];
  if (one.type !== 'game' || other.type !== 'game') return { relation: 'unknown', reasons };
  const league = a.topic.league?.value ?? b.topic.league?.value ?? null;
  const isOfSeveral = [a, b].some(({ topic }) => hasSeveralGames(topic.sport?.value ?? null));
  const isOneLeague =
    a.topic.league?.value === b.topic.league?.value
      ? !isOfSeveral || a.topic.league !== undefined
      : !isOfSeveral && (!a.topic.league || !b.topic.league);
  const isOneSport = !a.topic.sport || !b.topic.sport || a.topic.sport.value === b.topic.sport.value;
  const isOneGender = a.topic.sport?.value === 'mma' || a.topic.gender?.value === b.topic.gender?.value;
  const sport = a.topic.sport?.value ?? b.topic.sport?.value ?? null;
  const [dayA, dayB] = [a.topic.day?.value ?? '', b.topic.day?.value ?? ''];
  const isEve = a.topic.eve?.value === dayB || b.topic.eve?.value === dayA;
  const isOneDay = dayA === dayB || isEve || (!mayRepeatNextDay(sport) && within(dayA, dayB, 1));
  const isOneGame = isOneDay && startsTogether(a, b) && !areTwoOfOneDay(a, b, sport);
  const order = isOneLeague && isOneSport && isOneGame ? align(one.sides, other.sides, league) : null;
  const field = (name: string, isSameField: boolean): number =>
    reasons.push({
      field: name,
      a: a.topic[name]?.quote ?? '',
      b: b.topic[name]?.quote ?? '',
      verdict: isSameField ? 'same' : a.topic[name] && b.topic[name] ? 'differs' : 'missing',
    });
  field('day', isOneGame);
  field('sides', order !== null);
  if (!isOneGender) field('gender', false);
  if (!order || !isOneGender) return { relation: 'unknown', reasons };
  const isOnePeriod = a.topic.period?.value === b.topic.period?.value;
  const isOneMetric = a.topic.metric?.value === b.topic.metric?.value;
  field('period', isOnePeriod);
  field('metric', isOneMetric);
  // An unread line beside one of a player may be the same in other words.
  const kinds = new Set([one.line.on, other.line.on]);
  if (kinds.has('player') && kinds.has('other')) return { relation: 'unknown', reasons };
  if (!isOnePeriod || !isOneMetric) return { relation: 'overlap', reasons };
  const line = order === 'same' ? other.line : swapped(other.line);
  const relation = relateLines(one.line, line, one.drawn && other.drawn);
  reasons.push({
    field: 'line',
    a: a.claim.quote,
    b: b.claim.quote,
    verdict: relation !== null ? VERDICT[relation] : one.line.on === 'player' ? 'differs' : 'missing',
  });
  const isByWinner = one.line.on === 'winner' && line.on === 'winner';
  const isOneInDraws = !isByWinner || paysAlike(a, b, one.drawn && other.drawn && sport !== 'esports', reasons);
  return { relation: isOneInDraws ? (relation ?? 'unknown') : 'unknown', reasons };
}

/**
 * Whether two markets of a winner pay alike where the game is drawn. Where draws are ordinary, half of a share is not No. Where they are
 * rare, they are a rare case.
 */
function paysAlike(a: Facts, b: Facts, isOrdinary: boolean, reasons: Reason[]): boolean {
  const [[one], [other]] = [a.tails, b.tails];
  if (one?.value === other?.value) return true;
  const isNo = [one, other].every((pay) => !pay || pay.value === 'no');
  if (isOrdinary && isNo) return true;
  const verdict = one && other ? 'differs' : isOrdinary ? 'missing' : 'one_sided';
  reasons.push({ field: isOrdinary ? 'draw' : 'rare_case', a: one?.quote ?? '', b: other?.quote ?? '', verdict });
  return !isOrdinary;
}

const LATEST_START_MS = 200 * 60_000;

/** Whether two games may have one start; a game may start later than one of the platforms says. */
function startsTogether(a: Facts, b: Facts): boolean {
  const [one, other] = [a.topic.start, b.topic.start];
  return !one || !other || Math.abs(Date.parse(one.value) - Date.parse(other.value)) <= LATEST_START_MS;
}

/** Whether one market names one of two games of a day, and the other one does not name the same. */
function areTwoOfOneDay(a: Facts, b: Facts, sport: string | null): boolean {
  const [one, other] = [a.topic.period?.value ?? '', b.topic.period?.value ?? ''];
  return one !== other && (isOneOfTwo(sport, one) || isOneOfTwo(sport, other));
}

/** Whether two pairs of names are the same two sides, and in which order. */
function align(
  a: readonly [string, string],
  b: readonly [string, string],
  league: string | null,
): 'same' | 'swapped' | null {
  const [first, second] = [sideOf(b[0], a, league), sideOf(b[1], a, league)];
  if (first !== null && second !== null) return first === second ? null : first === 0 ? 'same' : 'swapped';
  return null;
}
