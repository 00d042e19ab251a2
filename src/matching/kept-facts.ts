import type { MarketFacts } from './facts.ts';

/**
 * The facts of a market in as little memory as a judge needs: quotes are kept apart, because they are read for those pairs alone whose
 * verdict is stored.
 */
export interface KeptFacts {
  /** JSON of the facts; each quote is the number of one of `quotes`. */
  bare: string;
  /** UTF-8: a text with one character outside of Latin-1 takes two bytes a character in memory. */
  quotes: Buffer;
}

const BETWEEN = '\n';

/** Packs facts; quotes hold no line breaks. */
export function packFacts(facts: MarketFacts): KeptFacts {
  const quotes: string[] = [];
  const bare = JSON.stringify(facts, (name, value: unknown) => {
    if (name !== 'quote') return value;
    const text = String(value).replaceAll(BETWEEN, ' ');
    const at = quotes.indexOf(text);
    return at === -1 ? quotes.push(text) - 1 : at;
  });
  return { bare, quotes: Buffer.from(quotes.join(BETWEEN)) };
}

/** The facts without their quotes: enough for a relation, and for nothing that is shown. */
export const bareFacts = ({ bare }: KeptFacts): MarketFacts => JSON.parse(bare) as MarketFacts;

/** The facts with their quotes. */
export function fullFacts({ bare, quotes }: KeptFacts): MarketFacts {
  const texts = quotes.toString().split(BETWEEN);
  return JSON.parse(bare, (name, value: unknown) =>
    name === 'quote' ? (texts[value as number] ?? '') : value,
  ) as MarketFacts;
}
