/** A JSON schema of the served description, as far as the table of figures needs it. */
interface Schema {
  $ref?: string;
  type?: string | string[];
  description?: string;
  properties?: Record<string, Schema>;
}

/** Endpoints and the schema that holds their figures. */
const FIGURES = [
  ['GET metrics/snapshot', 'SnapshotMetrics'],
  ['GET metrics/historical, one bucket', 'HistoryItem'],
  ['GET analytics/trending, one market', 'TrendingMarket'],
  ['GET analytics/categories, one category', 'Category'],
  ['GET analytics/calibration, one bin', 'CalibrationBin'],
  ['GET trades/whales, one trade', 'WhaleTrade'],
] as const;
/** When a thing was is no figure. */
const NO_FIGURE = new Set(['timestamp']);

/** The tables of docs/figures.md, from the description of each number in the schemas: definition, formula, unit and source, and when it is null. */
export function metricsTables(schemas: Record<string, Schema>): string {
  const rows = (schema: Schema, path: string): string[] =>
    Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
      if (NO_FIGURE.has(name)) return [];
      const types = [field.type ?? []].flat();
      if (types.includes('number') || types.includes('integer')) return [row(`${path}${name}`, field, types)];
      const within = rows(field, `${path}${name}.`);
      return within.length === 0 ? [] : [row(`${path}${name}`, field, types)].concat(within);
    });
  return FIGURES.map(([endpoint, name]) => {
    const head = `\`${endpoint}\`\n\n| Figure | Is | null |\n|---|---|---|\n`;
    return head + rows(schemas[name] ?? {}, '').join('\n');
  }).join('\n\n');
}

function row(name: string, { description = '' }: Schema, types: readonly string[]): string {
  const [, is = description, whenNull] = /^(.*?)[;,.] null (.*)$/s.exec(description) ?? [];
  if (types.includes('null') && whenNull === undefined) throw new Error(`${name} does not say when it is null`);
  return `| \`${name}\` | ${is} | ${whenNull ?? (types.includes('object') ? '' : 'never')} |`;
}
