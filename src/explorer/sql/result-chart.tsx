import { useMemo, useState } from 'preact/hooks';
import { LineChart } from '../parts/line-chart.tsx';
import { Panel } from '../parts/panel.tsx';
import { isNumeric, isTime } from './columns.ts';
import { drawnBy } from './points.ts';
import type { Result } from './run.ts';

/** One column of a result against another: over time if there is a time column, else over another numeric column. */
export function ResultChart({ result }: { result: Result }) {
  const { columns } = result;
  const numbers = columns.filter(isNumeric);
  const [wanted, setWanted] = useState<string | null>(null);
  const [along, setAlong] = useState<string | null>(null);
  const y = numbers.find(({ name }) => name === wanted) ?? numbers.at(-1);
  const bases = columns.filter((column) => (isTime(column) || isNumeric(column)) && column.name !== y?.name);
  const x = bases.find(({ name }) => name === along) ?? bases.find(isTime) ?? bases[0];
  const lines = useMemo(() => {
    if (!y || !x) return null;
    return drawnBy(result, x, y);
  }, [result, x?.name, y?.name]);
  if (!lines || !x || !y || lines.xs[0] === lines.xs.at(-1)) return null;
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
