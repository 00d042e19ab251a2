import type { Rng } from '../lib/index.ts';

/** Somebody who trades. `public`: the name shows beside trades; `hidden`: a profile without rows; `private`: no profile. */
export interface Trader {
  index: number;
  /** '' for a private trader. */
  nickname: string;
  socialId: string;
  visibility: 'public' | 'hidden' | 'private';
  joinedMs: number;
  description: string;
}

const PUBLIC = ['quiet.heron', 'maple_fox', 'TapeReader', 'northwind', 'j.calder', 'oddsmith', 'Lumen', 'basisrisk'];
const HIDDEN = ['greywater', 'nightdesk'];
const PRIVATE = 14;

/** The crowd that trades with itself and with accounts; positions in the list never change. */
export function createTraders(rng: Rng, nowMs: number): Trader[] {
  const make = (nickname: string, visibility: Trader['visibility'], index: number): Trader => ({
    index,
    nickname,
    visibility,
    socialId: rng.uuid(),
    joinedMs: nowMs - rng.int(40, 900) * 86_400_000,
    description: visibility === 'public' ? `Trades as ${nickname}.` : '',
  });
  return [
    ...PUBLIC.map((name) => ({ name, visibility: 'public' as const })),
    ...HIDDEN.map((name) => ({ name, visibility: 'hidden' as const })),
    ...Array.from({ length: PRIVATE }, () => ({ name: '', visibility: 'private' as const })),
  ].map(({ name, visibility }, index) => make(name, visibility, index));
}
