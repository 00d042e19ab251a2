import { expect, test } from 'vitest';
import { PLATFORMS } from '../../src/core/model.ts';
import { readDashboards } from '../helpers/dashboards.ts';

const dashboards = [...readDashboards()];

test.each(dashboards)('%s offers the platforms of the service, all and no other', (_, { templating }) => {
  const chosen = templating.list.filter(({ name, type }) => name === 'platform' && type === 'custom');
  for (const { query, options } of chosen) {
    expect(String(query).split(',')).toEqual([...PLATFORMS]);
    expect(options?.map(({ value }) => value)).toEqual([...PLATFORMS]);
  }
  const asked = templating.list.filter(({ name, type }) => name === 'platform' && type !== 'custom');
  for (const { query } of asked) expect(JSON.stringify(query)).toContain('SELECT DISTINCT platform FROM v_ingestion');
});

test.each(dashboards)('no query of %s names a platform', (_, { panels }) => {
  const named = new RegExp(`\\b(?:${PLATFORMS.join('|')})\\b`, 'i');
  const queries = panels.flatMap(({ targets }) => targets.map(({ rawSql = '', expr = '' }) => `${rawSql}${expr}`));
  expect(queries.filter((query) => named.test(query))).toEqual([]);
});
