import type { Relation } from '../../src/core/model.ts';
import type { MarketTexts } from '../../src/matching/facts.ts';
import { factsOf, judge } from '../../src/matching/judge.ts';

/** A market of which a test says only what decides. */
export type Some = Partial<Omit<MarketTexts, 'startsAtMs' | 'endsAtMs'>> & { starts?: string; ends?: string };

export function texts({ starts, ends, ...said }: Some): MarketTexts {
  return {
    platform: 'one',
    id: '1',
    title: '',
    outcomeName: null,
    outcomes: [],
    rules: '',
    resolutionSource: '',
    eventId: '',
    eventTitle: '',
    seriesId: '',
    slug: '',
    category: '',
    strike: null,
    copyOf: '',
    startsAtMs: starts === undefined ? null : Date.parse(starts),
    endsAtMs: ends === undefined ? null : Date.parse(ends),
    ...said,
  };
}

/** The verdict on two markets, and on the same two the other way round. */
export function relationOf(a: Some, b: Some): Relation {
  return judge(factsOf(texts(a)), factsOf(texts(b))).relation;
}

const MIRROR: Partial<Record<Relation, Relation>> = { subset: 'superset', superset: 'subset' };
export const mirrored = (relation: Relation): Relation => MIRROR[relation] ?? relation;

export type Case = readonly [name: string, a: Some, b: Some, relation: Relation];
