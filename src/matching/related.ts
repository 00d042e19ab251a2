import type { Relation } from '../core/model.ts';
import type { Reason } from './facts.ts';
import type { SetRelation } from './range.ts';

/** How two questions relate, and what decides. */
export interface Related {
  relation: Relation;
  reasons: Reason[];
}

/** What a relation of one field says. */
export const VERDICT: Readonly<Record<SetRelation, Reason['verdict']>> = {
  identical: 'same',
  complement: 'opposite',
  subset: 'narrower',
  superset: 'wider',
  overlap: 'differs',
  disjoint: 'excludes',
};
