import type { Platform } from '../core/model.ts';
import type { Relation } from '../core/model.ts';
import type { MarketFacts, Verdict } from './facts.ts';
import { judge } from './judge.ts';
import { bareFacts, fullFacts, type KeptFacts, packFacts } from './kept-facts.ts';
import { termsOf, termsSought } from './index-terms.ts';

/** Markets that the index holds; of more, the ones that came first are left out. */
const MOST_MARKETS = 300_000;
/** Entries of the lists of terms that are read for one market, the rarest terms first. */
const MOST_VISITED = 3000;
/** Markets that are judged with one market. */
const MOST_JUDGED = 60;
/** Pairs of one market that are stored, of each group of relations: the most alike first. */
const KEPT: readonly (readonly [readonly Relation[], number])[] = [
  [['identical', 'complement'], 10],
  [['subset', 'superset'], 4],
  [['disjoint', 'overlap'], 4],
  [['unknown'], 2],
];

/** A market of the index. */
export interface IndexedMarket {
  key: string;
  platform: Platform;
  /** Hash of the texts that its facts were read from. */
  texts: string;
  eventId: string;
  categorySlug: string;
  facts: MarketFacts;
}

/** Whether two markets match, or may match: only missing fields keep the verdict open. */
export const mayMatch = ({ relation, reasons }: Verdict): boolean =>
  relation !== 'unknown' || (reasons.length > 0 && reasons.every(({ verdict }) => verdict !== 'differs'));

interface Slot extends Omit<IndexedMarket, 'facts'> {
  kept: KeptFacts;
}

/** 30 bits: a small integer is the cheapest key. Terms that share a hash only add candidates. */
function hashOf(platform: Platform, term: string): number {
  let hash = 0x811c9dc5;
  for (const text of [platform, '|', term])
    for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return (hash ^ (hash >>> 15)) & 0x3fffffff;
}

/** Open markets by the terms of their facts. Rare terms decide what is judged first; no number of them makes a match. */
export class MatchIndex {
  readonly #slots = new Map<string, Slot>();
  readonly #lists = new Map<number, string[]>();
  readonly #platforms = new Set<Platform>();

  get size(): number {
    return this.#slots.size;
  }

  textsOf(key: string): string | undefined {
    return this.#slots.get(key)?.texts;
  }

  /** The market with its quotes; null if the index does not hold it. */
  market(key: string): IndexedMarket | null {
    const slot = this.#slots.get(key);
    return slot ? unpacked(slot) : null;
  }

  set({ facts, ...market }: IndexedMarket): void {
    this.delete(market.key);
    for (const first of this.#slots.keys()) {
      if (this.#slots.size < MOST_MARKETS) break;
      this.delete(first);
    }
    this.#platforms.add(market.platform);
    this.#slots.set(market.key, { ...market, kept: packFacts(facts) });
    for (const term of termsOf(facts)) {
      const hash = hashOf(market.platform, term);
      const list = this.#lists.get(hash);
      if (list) list.push(market.key);
      else this.#lists.set(hash, [market.key]);
    }
  }

  delete(key: string): void {
    const slot = this.#slots.get(key);
    if (!slot) return;
    this.#slots.delete(key);
    for (const term of termsOf(bareFacts(slot.kept))) {
      const hash = hashOf(slot.platform, term);
      const left = (this.#lists.get(hash) ?? []).filter((each) => each !== key);
      if (left.length > 0) this.#lists.set(hash, left);
      else this.#lists.delete(hash);
    }
  }

  clear(): void {
    this.#slots.clear();
    this.#lists.clear();
  }

  /** The markets of other platforms whose verdict with this one is worth storing, in no order; [] if the index does not hold it. */
  matchesOf(key: string): IndexedMarket[] {
    const own = this.#slots.get(key);
    if (!own) return [];
    const facts = bareFacts(own.kept);
    const left = KEPT.map(([relations, most]) => ({ relations, most }));
    return this.#candidatesOf(own, facts).flatMap((other) => {
      const verdict = judge(facts, bareFacts(other.kept));
      const group = left.find(({ relations }) => relations.includes(verdict.relation));
      if (!group || group.most === 0 || !mayMatch(verdict)) return [];
      group.most -= 1;
      return [unpacked(other)];
    });
  }

  /** Markets of other platforms by the terms that they share with this one, weighed by their rarity. */
  #candidatesOf(own: Slot, facts: MarketFacts): Slot[] {
    const others = [...this.#platforms].filter((platform) => platform !== own.platform);
    const lists = termsSought(facts)
      .flatMap((term) => others.map((platform) => this.#lists.get(hashOf(platform, term)) ?? []))
      .filter((list) => list.length > 0)
      .toSorted((a, b) => a.length - b.length);
    const scores = new Map<string, number>();
    let left = MOST_VISITED;
    for (const list of lists) {
      const weight = Math.log(1 + this.#slots.size / list.length);
      for (const key of list.slice(-left)) scores.set(key, (scores.get(key) ?? 0) + weight);
      left -= list.length;
      if (left <= 0) break;
    }
    const best = [...scores].toSorted(([, a], [, b]) => b - a).slice(0, MOST_JUDGED);
    return best.flatMap(([key]) => this.#slots.get(key) ?? []);
  }
}

function unpacked({ kept, ...market }: Slot): IndexedMarket {
  return { ...market, facts: fullFacts(kept) };
}
