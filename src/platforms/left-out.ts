import type { BadRow } from './contract.ts';

const MOST_EXAMPLES = 5;
const MOST_REASONS = 100;
const MOST_WORDS = 12;
const MOST_IDS = 5;

interface Reason {
  first: BadRow;
  /** The first rows that it concerns. */
  ids: Set<string>;
  count: number;
}

const isField = ({ first }: Reason): number => Number(first.field !== undefined);

/** What one run left out: rows, and fields of rows that it kept. */
export class LeftOut {
  rows = 0;
  fields = 0;
  readonly examples: BadRow[] = [];
  readonly #reasons = new Map<string, Reason>();

  add(row: BadRow): void {
    if (row.field === undefined) this.rows += 1;
    else this.fields += 1;
    if (this.examples.length < MOST_EXAMPLES) this.examples.push(row);
    const reason = `${row.kind} ${row.field ?? ''} ${row.reason}`.slice(0, 200);
    const known = this.#reasons.get(reason);
    if (known) {
      known.count += 1;
      if (known.ids.size < MOST_IDS) known.ids.add(row.id);
    } else if (this.#reasons.size < MOST_REASONS)
      this.#reasons.set(reason, { first: row, ids: new Set([row.id]), count: 1 });
  }

  /** The most common reasons, rows before fields, such as `market 1, 2: volume: not a decimal (45 rows)`; '' if nothing was left out. */
  words(): string {
    const common = [...this.#reasons.values()]
      .toSorted((a, b) => isField(a) - isField(b) || b.count - a.count)
      .slice(0, MOST_WORDS);
    return common.map(sentence).join('; ');
  }
}

function sentence({ first, ids, count }: Reason): string {
  const { kind, field, reason } = first;
  const unit = field === undefined ? 'row' : 'field';
  const why = field === undefined ? reason : `${field}: ${reason}`;
  const named = [...ids].map((id) => id.slice(0, 80)).join(', ');
  return `${kind} ${named}: ${why.slice(0, 120)} (${count} ${unit}${count === 1 ? '' : 's'})`;
}
