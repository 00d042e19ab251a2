import type { GameLine } from '../facts.ts';
import type { SetRelation } from '../range.ts';
import { relatePlayers } from './game-player.ts';

/** Scores beyond this are not tried: no line of a game lies higher. */
const MAX_SCORE = 300;

/** Whether a line is won by a score. */
function isWon(line: GameLine, home: number, away: number): boolean {
  const own = (side: 0 | 1): number => (side === 0 ? home : away);
  switch (line.on) {
    case 'winner':
      return own(line.side) > own(line.side === 0 ? 1 : 0);
    case 'draw':
      return home === away;
    case 'margin':
      return own(line.side) - own(line.side === 0 ? 1 : 0) > line.over;
    case 'total':
      return line.under ? home + away < line.over : home + away > line.over;
    case 'side_total':
      return line.under ? own(line.side) < line.over : own(line.side) > line.over;
    case 'both_score':
      return home > 0 && away > 0;
    case 'score':
      return home === line.score[0] && away === line.score[1];
    case 'player':
    case 'other':
      return false;
  }
}

function highest(line: GameLine): number {
  if (line.on === 'score') return Math.max(...line.score);
  return 'over' in line ? Math.abs(line.over) : 1;
}

/** The same line with the sides of its game exchanged. */
export function swapped(line: GameLine): GameLine {
  if (line.on === 'score') return { ...line, score: [line.score[1], line.score[0]] };
  return 'side' in line ? { ...line, side: line.side === 0 ? 1 : 0 } : line;
}

/** How two lines of one game and period relate, found by trying every score; null where a line is not a matter of the score. */
export function relateLines(a: GameLine, b: GameLine, isDrawn: boolean): SetRelation | null {
  if (a.on === 'player' && b.on === 'player') return relatePlayers(a, b);
  if (a.on === 'other' || b.on === 'other' || a.on === 'player' || b.on === 'player') return null;
  const top = Math.ceil(Math.max(highest(a), highest(b))) + 6;
  if (top > MAX_SCORE) return null;
  const seen = { both: false, onlyA: false, onlyB: false, none: false };
  for (let home = 0; home <= top; home += 1) {
    for (let away = 0; away <= top; away += 1) {
      if (home === away && !isDrawn) continue;
      const [inA, inB] = [isWon(a, home, away), isWon(b, home, away)];
      seen[inA ? (inB ? 'both' : 'onlyA') : inB ? 'onlyB' : 'none'] = true;
    }
  }
  if (!seen.onlyA && !seen.onlyB) return 'identical';
  if (!seen.both) return seen.none ? 'disjoint' : 'complement';
  if (!seen.onlyA) return 'subset';
  return seen.onlyB ? 'overlap' : 'superset';
}
