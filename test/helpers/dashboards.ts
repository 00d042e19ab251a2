import { readdirSync, readFileSync } from 'node:fs';

const FOLDER = new URL('../../dashboards/', import.meta.url);

export interface Target {
  refId: string;
  rawSql?: string;
  /** Of the ClickHouse plugin: 0 = time series, 1 = table. */
  format?: number;
  /** PromQL. */
  expr?: string;
}

export interface Panel {
  id: number;
  title: string;
  type: string;
  gridPos: { x: number; y: number; w: number; h: number };
  datasource: { type: string; uid: string };
  targets: Target[];
}

export interface Variable {
  name: string;
  type: 'query' | 'custom' | 'textbox';
  multi?: boolean;
  query: string | { rawSql: string };
  options?: { value: string }[];
}

export interface Dashboard {
  uid: string;
  title: string;
  panels: Panel[];
  templating: { list: Variable[] };
}

/** Every dashboard by the name of its file. */
export function readDashboards(): Map<string, Dashboard> {
  const names = readdirSync(FOLDER).filter((name) => name.endsWith('.json'));
  return new Map(
    names.map((name) => [
      name.replace('.json', ''),
      JSON.parse(readFileSync(new URL(name, FOLDER), 'utf8')) as Dashboard,
    ]),
  );
}

/** What Grafana knows when it asks: the range of its clock, the width of a point, the values chosen. */
export interface View {
  from: Date;
  to: Date;
  intervalSeconds: number;
  values: Record<string, string[]>;
}

const MACROS: Record<string, (view: View, column: string) => string> = {
  timeFilter: ({ from, to }, column) => `${column} >= ${dateTime(from)} AND ${column} <= ${dateTime(to)}`,
  timeInterval: (view, column) => `toStartOfInterval(toDateTime(${column}), INTERVAL ${view.intervalSeconds} second)`,
  interval_s: ({ intervalSeconds }) => String(intervalSeconds),
};
const FORMATS: Record<string, (values: string[]) => string> = {
  singlequote: (values) => values.map((value) => `'${value.replaceAll("'", "\\'")}'`).join(','),
  sqlstring: (values) => values.map((value) => `'${value.replaceAll("'", "''")}'`).join(','),
};

const dateTime = (time: Date) => `toDateTime(${Math.floor(time.getTime() / 1000)})`;

/** The statement as Grafana and its ClickHouse plugin send it. Throws for a macro or variable they would not know here. */
export function expand(sql: string, view: View): string {
  const withValues = sql.replaceAll(/\$\{(\w+)(?::(\w+))?\}/g, (_, name: string, format?: string) => {
    const values = view.values[name];
    if (!values) throw new Error(`no variable ${name}`);
    const formatted = format === undefined ? values.join(',') : FORMATS[format]?.(values);
    if (formatted === undefined) throw new Error(`no format ${format}`);
    return formatted;
  });
  return withValues.replaceAll(/\$__(\w+)(?:\(([^()]*)\))?/g, (_, name: string, column = '') => {
    const macro = MACROS[name];
    if (!macro) throw new Error(`no macro ${name}`);
    return macro(view, String(column));
  });
}
