import { mkdirSync, writeFileSync } from 'node:fs';
import { readDashboards } from '../helpers/dashboards.ts';
import { drawDashboard } from './dashboard.ts';

const HELP = `npm run previews
Draws every dashboard from a running service into dashboards/previews, with the queries of its panels. Settings:

  SQL_URL         http://me:API_KEY@127.0.0.1:8123, the SQL port of the service
  PROMETHEUS_URL  a Prometheus that scrapes it [unset: its panels stay empty]
  MINUTES         how far back; the markets dashboard shows seven days [30]
`;
const FOLDER = new URL('../../dashboards/previews/', import.meta.url);
const WEEK_MIN = 7 * 24 * 60;
/** Points of a line, and bars side by side, at most. */
const POINTS = 45;
/** Widths that divide minutes, hours and days. */
const STEPS_SECONDS = [5, 10, 15, 30, 60, 300, 900, 3600, 14_400] as const;

async function main(): Promise<void> {
  const { SQL_URL: sqlUrl, PROMETHEUS_URL: prometheusUrl, MINUTES = '30' } = process.env;
  const [argument] = process.argv.slice(2);
  if (argument !== undefined || sqlUrl === undefined) {
    process.stdout.write(HELP);
    process.exitCode = argument === '--help' || argument === '-h' ? 0 : 1;
    return;
  }
  mkdirSync(FOLDER, { recursive: true });
  for (const [name, dashboard] of readDashboards()) {
    const seconds = 60 * (name === 'markets' ? WEEK_MIN : Number(MINUTES));
    const to = new Date();
    const intervalSeconds = STEPS_SECONDS.find((step) => step * POINTS >= seconds) ?? 86_400;
    const range = { from: new Date(to.getTime() - seconds * 1000), to, intervalSeconds };
    const drawing = await drawDashboard(dashboard, range, { sqlUrl, prometheusUrl });
    writeFileSync(new URL(`${name}.svg`, FOLDER), drawing);
    process.stdout.write(`${name}.svg ${Math.round(drawing.length / 1024)} KB\n`);
  }
}

await main();
