import { PLATFORMS, type Platform } from '../../core/model.ts';
import { type LimitGroupName, MANIFESTS } from '../manifests.ts';
import type { LimitGroup } from './limit-group.ts';

export const platformOfGroup = (name: LimitGroupName): Platform => name.slice(0, name.indexOf(':')) as Platform;

/** The limits of a group; undefined if a name that came from outside names none. */
const known = (name: string): LimitGroup | undefined => {
  const platform = PLATFORMS.find((platform) => name.startsWith(`${platform}:`));
  const limits: Readonly<Record<string, LimitGroup>> = platform ? MANIFESTS[platform].limits : {};
  return Object.hasOwn(limits, name) ? limits[name] : undefined;
};

export const isLimitGroup = (name: string): name is LimitGroupName => known(name) !== undefined;

export function limitGroup(name: LimitGroupName): LimitGroup {
  const limits = known(name);
  if (!limits) throw new RangeError(`${name} is no limit group of a platform's manifest`);
  return limits;
}

/** The budget's name without account or user, for labels with few values. */
export function budgetKind(name: string): string {
  const [, budget = name, kind = ''] = /^(.*?)(?:\/(account|user)\/.*)?$/.exec(name) ?? [];
  const isKnown = Object.values(MANIFESTS).some(({ limits }) =>
    Object.values(limits).some(({ live, background, callers }) =>
      [live, background, callers].some((rule) => rule?.name === budget),
    ),
  );
  if (!isKnown) return 'other';
  return kind === '' ? budget : `${budget}/${name.includes('/user/') ? 'user' : kind}`;
}
