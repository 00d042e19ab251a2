import { z } from 'zod';

/** Names at the end of a page whose count is carried to the next: a user has few trades of one instant. */
const CARRIED = 20;

/** A page of a list of trades: the platform's own cursor, and how often each name at the end of the page before has occurred. */
const Place = z.object({ cursor: z.string(), seen: z.array(z.tuple([z.string(), z.int()])) });

/** The place in a cursor text; a text without counts is the platform's own cursor. */
export function placeOf(text: string): z.output<typeof Place> {
  if (!text.startsWith('{')) return { cursor: text, seen: [] };
  return Place.parse(JSON.parse(text));
}

/** The cursor text of the next page; `seen` counts the names that may occur there again. '' if `cursor` is ''. */
export const nextPlace = (cursor: string, seen: readonly [name: string, count: number][]): string =>
  cursor === '' ? '' : JSON.stringify({ cursor, seen: seen.slice(-CARRIED) });
