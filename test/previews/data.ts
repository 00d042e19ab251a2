import { expand, type Target, type View } from '../helpers/dashboards.ts';

/** A line, or the bars of one colour. Times are Unix milliseconds; null is a gap. */
export interface Series {
  name: string;
  points: [timeMs: number, value: number | null][];
}

/** Rows as they are shown: numbers as numbers, times as Date, null if unknown. */
export type Cell = string | number | boolean | Date | null;
export interface Table {
  columns: string[];
  rows: Cell[][];
}

/** Where panels get their data: the SQL port, and Prometheus where there is one. */
export interface Sources {
  /** http://user:password@host:port of SQL_PORT. */
  sqlUrl: string;
  /** Without it panels of Prometheus say so. */
  prometheusUrl?: string | undefined;
}

interface SqlAnswer {
  meta: { name: string; type: string }[];
  data: Record<string, unknown>[];
}

/** The rows of a statement, typed by what ClickHouse says of its columns. */
export async function sqlTable({ sqlUrl }: Sources, statement: string): Promise<Table> {
  const { origin, username, password } = new URL(sqlUrl);
  const answer = await fetch(`${origin}/?default_format=JSON`, {
    method: 'POST',
    body: statement,
    headers: {
      authorization: `Basic ${Buffer.from(`${username}:${decodeURIComponent(password)}`).toString('base64')}`,
    },
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${text}\n${statement}`);
  const { meta, data } = JSON.parse(text) as SqlAnswer;
  return {
    columns: meta.map(({ name }) => name),
    rows: data.map((row) => meta.map(({ name, type }) => cell(row[name], type))),
  };
}

function cell(value: unknown, type: string): Cell {
  if (value === null || value === undefined) return null;
  if (type.includes('DateTime')) return new Date(`${String(value).replace(' ', 'T')}Z`);
  if (/Int|Float|Decimal/.test(type)) return Number(value);
  return typeof value === 'boolean' ? value : String(value);
}

/** A table with a time column as series: one per text in its text column and per number column. */
export function toSeries({ columns, rows }: Table): Series[] {
  const series = new Map<string, Series>();
  const timeAt = columns.indexOf('time');
  const numbers = columns.map((_, i) => i).filter((i) => rows.some((row) => typeof row[i] === 'number'));
  const labelAt = columns.findIndex((_, i) => rows.some((row) => typeof row[i] === 'string'));
  for (const row of rows) {
    for (const i of numbers) {
      const label = labelAt < 0 ? '' : String(row[labelAt]);
      const name = label === '' ? (columns[i] ?? '') : numbers.length > 1 ? `${label} ${columns[i]}` : label;
      const one = series.get(name) ?? { name, points: [] };
      series.set(name, one);
      const [time, value] = [row[timeAt], row[i]];
      if (time instanceof Date) one.points.push([time.getTime(), typeof value === 'number' ? value : null]);
    }
  }
  return [...series.values()];
}

interface RangeAnswer {
  data: { result: { metric: Record<string, string>; values: [number, string][] }[] };
}

/** Four scrapes of five seconds and more, as Grafana takes it. */
const RATE_INTERVAL = '40s';

/** What Prometheus reports over the range of the view, named as the legend says. */
export async function promSeries(
  { prometheusUrl }: Sources,
  { expr = '', legendFormat = '' }: Target,
  view: View,
): Promise<Series[]> {
  const search = new URLSearchParams({
    query: expr.replaceAll('$__rate_interval', RATE_INTERVAL),
    start: String(Math.floor(view.from.getTime() / 1000)),
    end: String(Math.floor(view.to.getTime() / 1000)),
    step: String(view.intervalSeconds),
  });
  const answer = await fetch(`${prometheusUrl}/api/v1/query_range?${search}`);
  if (!answer.ok) throw new Error(`${await answer.text()}\n${expr}`);
  const { data } = (await answer.json()) as RangeAnswer;
  return data.result.map(({ metric, values }) => ({
    name: legendFormat.replaceAll(/\{\{(\w+)\}\}/g, (_, label: string) => metric[label] ?? ''),
    points: values.map(([time, value]) => [time * 1000, Number.isFinite(Number(value)) ? Number(value) : null]),
  }));
}

/** The statement of a target as Grafana would send it. */
export const statementOf = (target: Target, view: View): string => expand(target.rawSql ?? '', view);
