import type { Match } from '../answers.ts';

/** What a relation says of this market and the other one. */
export const SAYS: Record<Match['relation'], string> = {
  identical: 'The same question',
  complement: 'The opposite question',
  subset: 'If this is Yes, so is that',
  superset: 'If that is Yes, so is this',
  overlap: 'Either can be Yes without the other',
  disjoint: 'They cannot both be Yes',
  unknown: 'Not decided',
};

/** What a person may say. */
export const STATED = (Object.keys(SAYS) as Match['relation'][]).filter((relation) => relation !== 'unknown');

/** A relation of a to b from the side of the page's market, and back. */
export function turned(relation: Match['relation'], isA: boolean): Match['relation'] {
  if (isA) return relation;
  return relation === 'subset' ? 'superset' : relation === 'superset' ? 'subset' : relation;
}
