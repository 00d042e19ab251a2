import { useMemo, useState } from 'preact/hooks';
import { LineChart, type Line } from '../parts/line-chart.tsx';
import { Panel } from '../parts/panel.tsx';
import { isNumeric, isTime, type Column, type Result } from './run.ts';

/** One column of a result against another: over time if there is a time column, else over another numeric column. */
export function ResultChart({ result }: { result: Result }) {
  const { columns } = result;
  const numbers = columns.filter(isNumeric);
  const [wanted, setWanted] = useState<string | null>(null);
  const [along, setAlong] = useState<string | null>(null);
  const y = numbers.find(({ name }) => name === wanted) ?? numbers.at(-1);
  const bases = columns.filter((column) => (isTime(column) || isNumeric(column)) && column.name !== y?.name);
  const x = bases.find(({ name }) => name === along) ?? bases.find(isTime) ?? bases[0];
  const lines = useMemo((): { xs: number[]; lines: Line[] } | null => {
    if (!y || !x) return null;
    return drawnBy(result, x, y);
  }, [result, x?.name, y?.name]);
  if (!lines || !x || !y || lines.xs.length < 2) return null;
  return (
    <Panel
      title="Chart"
      aside={
        <>
          <label>
            <span class="muted">of </span>
            <select value={y.name} onChange={({ currentTarget }) => setWanted(currentTarget.value)}>
              {numbers.map(({ name }) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          </label>
          <label>
            <span class="muted">by </span>
            <select value={x.name} onChange={({ currentTarget }) => setAlong(currentTarget.value)}>
              {bases.map(({ name }) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          </label>
        </>
      }
    >
      <LineChart
        xs={lines.xs}
        lines={lines.lines}
        {...(isTime(x) ? {} : { base: x.name })}
        height={220}
        label={`${y.name} by ${x.name}`}
        points
      />
    </Panel>
  );
}

/** More lines cannot be distinguished. */
const MOST_LINES = 10;

/** Points by x. A text column with at most MOST_LINES values, such as platform, gives one line per value. */
function drawnBy({ columns, rows }: Result, x: Column, y: Column): { xs: number[]; lines: Line[] } {
  const [at, of] = [columns.indexOf(x), columns.indexOf(y)];
  const texts = columns.flatMap(({ type }, n) => (/String|Enum/.test(type) ? [n] : []));
  const split = texts.find((n) => new Set(rows.map((row) => row[n])).size <= MOST_LINES);
  const points = rows
    .map((row) => ({ base: baseOf(row[at], x), name: split === undefined ? y.name : String(row[split]), row }))
    .filter(({ base }) => Number.isFinite(base));
  const xs = [...new Set(points.map(({ base }) => base))].toSorted((a, b) => a - b);
  const places = new Map(xs.map((base, n) => [base, n]));
  const lines = new Map<string, Line>();
  for (const { base, name, row } of points) {
    const line = lines.get(name) ?? { name, values: xs.map(() => null) };
    line.values[places.get(base) ?? 0] = row[of] === null ? null : Number(row[of]);
    lines.set(name, line);
  }
  return { xs, lines: [...lines.values()] };
}

/** The x value: Unix seconds of a time, or the number itself. */
function baseOf(value: unknown, column: Column): number {
  if (!isTime(column)) return Number(value);
  const text = String(value).replace(' ', 'T');
  return Date.parse(text.includes('T') ? `${text}Z` : text) / 1000;
}
