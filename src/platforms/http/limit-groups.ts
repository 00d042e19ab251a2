import type { Platform } from '../../core/model.ts';
import { kalshiLimits } from '../kalshi/limits.ts';
import { limitlessLimits } from '../limitless/limits.ts';
import { polymarketLimits } from '../polymarket/limits.ts';
import type { LimitGroup } from './limit-group.ts';

/** Every limit group: calls that a platform counts together. */
const groups = { ...kalshiLimits, ...polymarketLimits, ...limitlessLimits } satisfies Record<
  `${Platform}:${string}`,
  LimitGroup
>;

/** Name of a limit group: the platform, then what the platform counts together. */
export type LimitGroupName = keyof typeof groups;

export const LIMIT_GROUPS: Readonly<Record<LimitGroupName, LimitGroup>> = groups;

const budgets = new Set(
  Object.values(LIMIT_GROUPS).flatMap(({ live, background, callers }) =>
    [live, background, callers].flatMap((budget) => budget?.name ?? []),
  ),
);

/** The budget's name without account or user, for labels with few values. */
export function budgetKind(name: string): string {
  const [, budget = name, kind = ''] = /^(.*?)(?:\/(account|user)\/.*)?$/.exec(name) ?? [];
  if (!budgets.has(budget)) return 'other';
  return kind === '' ? budget : `${budget}/${name.includes('/user/') ? 'user' : kind}`;
}

export const isLimitGroup = (name: string): name is LimitGroupName => Object.hasOwn(LIMIT_GROUPS, name);
