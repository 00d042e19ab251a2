import { isTime, type Column, type Table } from './columns.ts';

/** More lines cannot be distinguished. */
const MOST_LINES = 10;

interface Drawn {
  xs: number[];
  lines: { name: string; values: (number | null)[] }[];
}

/** A point for every row, by x. A text column with at most MOST_LINES values, such as platform, gives one line per value. */
export function drawnBy({ columns, rows }: Table, x: Column, y: Column): Drawn {
  const [at, of] = [columns.indexOf(x), columns.indexOf(y)];
  const texts = columns.flatMap(({ type }, n) => (/String|Enum/.test(type) ? [n] : []));
  const split = texts.find((n) => new Set(rows.map((row) => row[n])).size <= MOST_LINES);
  const points = rows
    .map((row) => ({ base: baseOf(row[at], x), name: split === undefined ? y.name : String(row[split]), row }))
    .filter(({ base }) => Number.isFinite(base))
    .toSorted((a, b) => a.base - b.base);
  const drawn: Drawn = {
    xs: [],
    lines: [...new Set(points.map(({ name }) => name))].map((name) => ({ name, values: [] })),
  };
  const lines = new Map(drawn.lines.map((line) => [line.name, line.values]));
  /** Where the points of the current x begin: they share places with those of other lines, not of their own. */
  let from = 0;
  for (const { base, name, row } of points) {
    const values = lines.get(name) ?? [];
    if (base !== drawn.xs[from]) from = drawn.xs.length;
    const place = Math.max(from, values.length);
    drawn.xs[place] = base;
    while (values.length < place) values.push(null);
    values.push(row[of] === null ? null : Number(row[of]));
  }
  for (const { values } of drawn.lines) while (values.length < drawn.xs.length) values.push(null);
  return drawn;
}

/** The x value: Unix seconds of a time, or the number itself. */
function baseOf(value: unknown, column: Column): number {
  if (!isTime(column)) return Number(value);
  const text = String(value).replace(' ', 'T');
  return Date.parse(text.includes('T') ? `${text}Z` : text) / 1000;
}
