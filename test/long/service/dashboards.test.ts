import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createMetrics } from '../../../src/observability/metrics.ts';
import { expand, readDashboards, type View } from '../../helpers/dashboards.ts';
import { filled, rowsOf, startWholeService, type WholeService } from '../../helpers/whole-service.ts';

const run = promisify(execFile);
const dashboards = readDashboards();
/** The text of a file, by its path in the project. */
const page = (path: string): string => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');
const read = (path: string): unknown => parse(page(`dashboards/${path}`));

/** The range of a view that ends now. */
const lastDays = () => {
  const to = new Date(Date.now() + 1000);
  return { from: new Date(to.getTime() - 3 * 86_400_000), to, intervalSeconds: 600 };
};

const metricNames = (promql: string): string[] => promql.match(/\b(?:forecastle|nodejs|process)_\w+/g) ?? [];

/** Whether a word of the table of metrics is this metric: whole, or its end. */
const means = (word: string, name: string) => (word.startsWith('_') ? name.endsWith(word) : name === word);

const exported = async (): Promise<Set<string>> => {
  const names = new Set<string>();
  for (const { name, type } of await createMetrics().registry.getMetricsAsJSON()) {
    names.add(name);
    if (String(type) === 'histogram') for (const part of ['bucket', 'count', 'sum']) names.add(`${name}_${part}`);
  }
  return names;
};

describe('every dashboard', () => {
  it.each([...dashboards])('%s is whole: panels apart, sources provisioned, variables defined', (_, dashboard) => {
    const { datasources } = read('provisioning/datasources/forecastle.yml') as {
      datasources: { uid: string; type: string }[];
    };
    const cells = new Set<string>();
    for (const { id, gridPos, datasource, targets, title } of dashboard.panels) {
      expect(datasources.map(({ uid, type }) => `${type} ${uid}`)).toContain(`${datasource.type} ${datasource.uid}`);
      expect(targets.length, title).toBeGreaterThan(0);
      for (const { rawSql, expr } of targets) expect([rawSql, expr].filter(Boolean), title).toHaveLength(1);
      expect(dashboard.panels.filter((panel) => panel.id === id)).toHaveLength(1);
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x += 1)
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y += 1) {
          expect(cells.has(`${x}/${y}`), `${title} lies over another panel`).toBe(false);
          expect(x).toBeLessThan(24);
          cells.add(`${x}/${y}`);
        }
    }
  });

  it('asks Prometheus for metrics that the service has', async () => {
    const names = await exported();
    const asked = [...dashboards.values()].flatMap(({ panels }) =>
      panels.flatMap(({ targets }) => targets.flatMap(({ expr }) => (expr === undefined ? [] : metricNames(expr)))),
    );
    expect(asked.length).toBeGreaterThan(15);
    for (const name of asked) expect(names, name).toContain(name);
  });
});

it('docs/metrics.md names every metric of the service, and no other', async () => {
  const [, table = ''] = /^\| Metric, `forecastle_…`.*\n((?:\|.*\n)+)/m.exec(page('docs/metrics.md')) ?? [];
  const listed = [...table.matchAll(/`([a-z_0-9]+)`/g)].map(([, name = '']) => name);
  const own = (await createMetrics().registry.getMetricsAsJSON())
    .map(({ name }) => /^forecastle_(.*)/.exec(name)?.[1] ?? '')
    .filter((name) => name !== '');
  for (const name of own)
    expect(
      listed.some((word) => means(word, name)),
      name,
    ).toBe(true);
  for (const word of listed)
    expect(
      own.some((name) => means(word, name)),
      word,
    ).toBe(true);
});

/** The SQL blocks of a document. */
const queriesOf = (text: string): string[] => [...text.matchAll(/```sql\n(.*?)```/gs)].map(([, query = '']) => query);

it('alerts watch metrics that the service has, and each says what to do', async () => {
  const names = await exported();
  const { groups } = read('alerts.yml') as {
    groups: { rules: { alert: string; expr: string; annotations: { summary: string; description: string } }[] }[];
  };
  const rules = groups.flatMap((group) => group.rules);
  expect(rules.length).toBeGreaterThan(5);
  for (const { alert, expr, annotations } of rules) {
    const watched = metricNames(expr);
    expect(watched.length, alert).toBeGreaterThan(0);
    for (const name of watched) expect(names, `${alert}: ${name}`).toContain(name);
    expect(annotations.summary, alert).not.toBe('');
    expect(annotations.description, alert).not.toBe('');
  }
});

it('an alert on something that stops happening also fires when no series is left', () => {
  const { groups } = read('alerts.yml') as { groups: { rules: { alert: string; expr: string }[] }[] };
  const rules = groups.flatMap((group) => group.rules);
  const silent = rules.filter(({ expr }) => /^\(?sum.*== 0$/.test(expr));
  expect(silent.map(({ alert }) => alert)).toEqual(['IngestionStopped']);
  for (const { alert, expr } of silent) expect(expr, alert).toContain('or vector(0)');
  const { scrape_configs: scraped } = read('prometheus.yml') as { scrape_configs: { job_name: string }[] };
  const gone = rules.flatMap(({ expr }) => /^absent\(\w+\{job="([\w-]+)"\}\)$/.exec(expr)?.[1] ?? []);
  expect(gone).toEqual(['forecastle-api']);
  expect(scraped.map((job) => job.job_name)).toEqual(expect.arrayContaining(gone));
});

/** A row once every open market of Kalshi with trades has rows of a view. */
const allIn = (view: string): string =>
  `SELECT 1 FROM (SELECT count() AS n FROM v_markets WHERE platform = 'kalshi' AND status = 'open' AND volume_24h > 0
   AND market_key NOT IN (SELECT market_key FROM ${view})) WHERE n = 0`;

describe('on a store that the simulated platforms filled', () => {
  let whole: WholeService;

  beforeAll(async () => {
    whole = await startWholeService();
    await filled(whole);
    // The market opened is the one most traded, whichever that is by then.
    await rowsOf(whole, allIn("v_candles WHERE interval = '1m' AND series = 0"));
    await rowsOf(whole, allIn('v_depth'));
    // Windows are computed when they are asked, and every five minutes.
    const sold = async (): Promise<void> => {
      await whole.get('/v1/api/analytics/trending');
      expect(await whole.sql('SELECT 1 FROM v_market_stats WHERE sold_24h > 0 LIMIT 1')).toHaveLength(1);
    };
    await vi.waitFor(sold, { timeout: 280_000, interval: 1000 });
    await rowsOf(whole, 'SELECT 1 FROM v_whales LIMIT 1');
    await rowsOf(whole, 'SELECT 1 FROM v_markets WHERE resolved_at IS NOT NULL LIMIT 1');
  }, 300_000);

  afterAll(async () => {
    await whole.close();
  });

  /** As Grafana opens it, with the last three days: every value of a variable that takes several, the first of the others. */
  const viewOf = async (name: string): Promise<View> => {
    const view: View = { ...lastDays(), values: {} };
    for (const { name: variable, type, query, multi } of dashboards.get(name)?.templating.list ?? []) {
      const values = typeof query === 'string' ? query.split(',') : await valuesOf(query.rawSql, view);
      expect(values.length, variable).toBeGreaterThan(0);
      view.values[variable] = type === 'textbox' ? [''] : multi ? values : values.slice(0, 1);
    }
    return view;
  };

  /** A variable's values: the column `__value`, else the first. */
  const valuesOf = async (rawSql: string, view: View): Promise<string[]> =>
    (await whole.sql(expand(rawSql, view))).map((row) => String(row['__value'] ?? Object.values(row)[0]));

  it.each([...dashboards])(
    'every query of %s answers with rows of the shape its panel draws',
    async (name, dashboard) => {
      const view = await viewOf(name);
      for (const { title, type, targets } of dashboard.panels)
        for (const { rawSql, format } of targets) {
          if (rawSql === undefined) continue;
          // The row cap that Grafana sends along.
          const rows = await whole.sql(expand(rawSql, view), { limit: '1000000' });
          expect(rows.length, `${title} has no rows`).toBeGreaterThan(0);
          const [row = {}] = rows;
          if (format === 0 || type === 'candlestick') expect(row, title).toHaveProperty('time');
          if (type === 'candlestick')
            expect(Object.keys(row)).toEqual(['time', 'open', 'high', 'low', 'close', 'volume']);
          if (type !== 'table')
            expect(Object.values(row).some((value) => typeof value === 'number' || /^\d+$/.test(String(value)))).toBe(
              true,
            );
        }
    },
  );

  it.each([
    ['README.md', 1],
    ['docs/sql.md', 6],
  ])('%s has %i worked queries, and each answers', async (path, count) => {
    const queries = queriesOf(page(path));
    expect(queries).toHaveLength(count);
    for (const query of queries) expect((await whole.sql(query)).length, query).toBeGreaterThan(0);
  });

  it('README.md shows curls that work as they are printed', async () => {
    const listed = await whole.get('/v1/api/markets?provider=kalshi&status=open&limit=1');
    const { markets } = (await listed.json()) as { markets: { platform_id: string }[] };
    const { port } = new URL(whole.sqlUrl);
    const env = { ...process.env, URL: whole.service.url, KEY: whole.key, MARKET: markets[0]?.platform_id ?? '' };
    const printed = page('README.md').match(/^curl .*$/gm) ?? [];
    const all = printed.map((line) => line.replace(':8123/', `:${port}/`));
    const curls = all.filter((line) => !line.startsWith('curl -N'));
    expect(curls).toHaveLength(7);
    const streams = all.filter((line) => line.startsWith('curl -N'));
    expect(streams.length).toBeGreaterThan(0);
    for (const curl of streams) {
      // A stream does not end by itself: curl ends it with 28.
      const { stdout } = await run('bash', ['-c', `${curl} -s --max-time 3 || [ $? = 28 ]`], { env });
      expect(stdout).toContain('event: state');
    }
    for (const curl of curls) {
      // Files that a curl writes end with the service.
      const { stdout } = await run('bash', ['-c', `${curl} -w '\\n%{http_code}'`], { env, cwd: whole.directory });
      expect([curl, stdout.trim().split('\n').at(-1), stdout]).toEqual([curl, '200', expect.any(String)]);
    }
  });

  it('docs/sql.md lists every view', async () => {
    const views = [...page('docs/sql.md').matchAll(/^\| `(v_\w+)` \|/gm)].map(([, name = '']) => name);
    const shown = await whole.sql<{ name: string }>('SHOW TABLES');
    expect(views.toSorted()).toEqual(shown.map(({ name }) => name).toSorted());
  });

  it('a market is found by a part of its title, quotes and all', async () => {
    const view = await viewOf('market');
    const variables = dashboards.get('market')?.templating.list ?? [];
    const [rawSql = ''] = variables.flatMap(({ name, query }) =>
      name === 'market' && typeof query !== 'string' ? [query.rawSql] : [],
    );
    const all = await whole.sql<{ __text: string }>(expand(rawSql, view));
    const part = all[0]?.__text.slice(3, 12).toUpperCase() ?? '';
    const found = await whole.sql<{ __text: string }>(
      expand(rawSql, { ...view, values: { ...view.values, search: [part] } }),
    );
    expect(found.length).toBeGreaterThan(0);
    for (const { __text } of found) expect(__text.toUpperCase()).toContain(part);
    const hostile = { ...view.values, search: ["x') OR 1 --"] };
    expect(await whole.sql(expand(rawSql, { ...view, values: hostile }))).toEqual([]);
  });
});
