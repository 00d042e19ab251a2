const SHORT = [
  [1e9, 'B'],
  [1e6, 'M'],
  [1e3, 'K'],
] as const;

/** At most three digits that matter, without trailing zeros. */
function digits(value: number): string {
  const size = Math.abs(value);
  const places = size >= 100 || size === 0 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3;
  return String(Number(value.toFixed(places)));
}

function short(value: number): string {
  const [by, letter] = SHORT.find(([least]) => Math.abs(value) >= least) ?? [1, ''];
  return `${digits(value / by)}${letter}`;
}

function duration(seconds: number): string {
  if (seconds !== 0 && Math.abs(seconds) < 1) return `${digits(seconds * 1000)} ms`;
  if (Math.abs(seconds) < 120) return `${digits(seconds)} s`;
  return seconds < 7200 ? `${digits(seconds / 60)} min` : `${digits(seconds / 3600)} h`;
}

/** A value in one of the units of the dashboards, as Grafana would write it. */
export function inUnit(value: number | null, unit?: string): string {
  if (value === null) return '–';
  if (unit === 's') return duration(value);
  if (unit === 'percentunit') return `${digits(value * 100)} %`;
  if (unit === 'percent') return `${digits(value)} %`;
  if (unit === 'currencyUSD') return `$${short(value)}`;
  if (unit === 'reqps') return `${short(value)} req/s`;
  if (unit === 'rowsps') return `${short(value)} rows/s`;
  return short(value);
}
