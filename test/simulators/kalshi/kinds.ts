import { coin, game, index, weather } from './kinds-daily.ts';
import { chart, combo, election, mention, rate } from './kinds-rare.ts';

/** Every sort of event a world is made of. */
export const KINDS = { weather, game, rate, coin, election, mention, chart, index, combo } as const;
export type KindName = keyof typeof KINDS;
