import { readdirSync, readFileSync } from 'node:fs';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { metricsTables } from '../helpers/metrics-table.ts';

interface Schema {
  $ref?: string;
  type?: string | string[];
  description?: string;
  default?: unknown;
  properties?: Record<string, Schema>;
  items?: Schema;
  additionalProperties?: Schema | boolean;
  anyOf?: Schema[];
  required?: string[];
}
interface Media {
  schema: Schema;
  example?: unknown;
}
interface Operation {
  operationId: string;
  summary: string;
  parameters?: { name: string; schema: Schema; description?: string }[];
  requestBody?: { content: Record<string, Media> };
  responses: Record<string, { content?: Record<string, Media>; headers?: object }>;
}
interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

/** Words of which a number's description has one: its unit. */
const UNIT =
  /USD|contracts|shares|\d\.\.\d|milliseconds|seconds|minutes|percent|number of|fraction|status code|ISO-8601|per minute/i;

let service: TestApp;
let document: Document;
let operations: [name: string, operation: Operation][];

beforeAll(async () => {
  service = await startTestApp();
  document = (await service.app.inject('/v1/api/openapi.json')).json();
  operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): [string, Operation] => [`${method} ${path}`, operation]),
  );
});
afterAll(() => service.close());

const resolved = (schema: Schema): Schema =>
  schema.$ref === undefined ? schema : (document.components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {});

/** Calls `visit` with every named value of a schema: fields at any depth, of rows and of free names too. */
function fields(schema: Schema, path: string, visit: (field: Schema, path: string) => void): void {
  const { properties = {}, items, additionalProperties, anyOf = [] } = resolved(schema);
  for (const [name, field] of Object.entries(properties)) {
    visit(field, `${path}.${name}`);
    fields(field, `${path}.${name}`, visit);
  }
  if (items) fields(items, `${path}[]`, visit);
  for (const one of anyOf) fields(one, path, visit);
  if (typeof additionalProperties !== 'object') return;
  if (Object.keys(resolved(additionalProperties).properties ?? {}).length === 0)
    visit(additionalProperties, `${path}.*`);
  fields(additionalProperties, `${path}.*`, visit);
}

const typesOf = (schema: Schema): string[] => [
  ...[resolved(schema).type ?? []].flat(),
  ...(schema.anyOf ?? []).flatMap((one) => typesOf(one)),
];

function lacking(schema: Schema, path: string): string[] {
  const said = schema.description ?? resolved(schema).description ?? '';
  const types = typesOf(schema);
  return [
    ...(said === '' && Object.keys(schema).length > 0 ? [`${path} says nothing`] : []),
    ...(types.includes('null') && !/\bnull\b/.test(said) ? [`${path} does not say when it is null: ${said}`] : []),
    ...(types.some((type) => type === 'number' || type === 'integer') && !UNIT.test(said)
      ? [`${path} has no unit: ${said}`]
      : []),
  ];
}

it('says of every field and parameter what it is, of every number its unit, of every nullable field when it is null', () => {
  const found: string[] = [];
  for (const [name, { parameters = [], requestBody, responses }] of operations) {
    for (const parameter of parameters)
      found.push(
        ...lacking({ ...parameter.schema, description: parameter.description ?? '' }, `${name} ${parameter.name}`),
      );
    for (const { content = {} } of [...(requestBody ? [requestBody] : []), ...Object.values(responses)])
      for (const { schema } of Object.values(content))
        fields(schema, name, (field, path) => found.push(...lacking(field, path)));
  }
  expect([...new Set(found)]).toEqual([]);
});

it('shows an example of every JSON body, in and out, each with a status the operation answers', () => {
  const names = new Set<string>();
  for (const [name, { operationId, requestBody, responses }] of operations) {
    const media = [
      ['request', requestBody],
      ...Object.entries(responses).filter(([status]) => status.startsWith('2')),
    ] as const;
    for (const [place, body] of media) {
      const json = body?.content?.['application/json'];
      if (json) expect(json.example, `${name} ${place}`).toBeDefined();
      if (json) names.add(`${operationId}.${place}.json`);
    }
  }
  names.add('getHealth.503.json');
  expect(readdirSync(new URL('../../src/http/openapi/examples', import.meta.url)).toSorted()).toEqual(
    [...names].toSorted(),
  );
});

const responsesOf = (id: string) => operations.find(([, { operationId }]) => operationId === id)?.[1].responses ?? {};

it('names every form of an answer of SQL, and the headers of a file that is read in parts', () => {
  const forms = Object.keys(responsesOf('runSql')['200']?.content ?? {});
  expect(forms).toEqual(['application/json', 'text/csv', 'application/vnd.apache.parquet']);
  const file = responsesOf('getFile');
  for (const status of ['200', '206']) {
    expect(Object.keys(file[status]?.content ?? {})).toEqual(['application/vnd.apache.parquet']);
    expect(file[status]?.headers).toHaveProperty('Accept-Ranges');
  }
  for (const status of ['206', '416']) expect(file[status]?.headers).toHaveProperty('Content-Range');
});

it('shows how a platform is ingested in the example of GET /health', () => {
  const [, { responses }] = operations.find(([, { operationId }]) => operationId === 'getHealth')!;
  const check = expect.objectContaining({ platform: 'polymarket', status: 'ok', jobs: expect.anything() });
  expect(responses['200']?.content?.['application/json']?.example).toMatchObject({ checks: [check] });
});

const problemsOf = async (text: string): Promise<string[]> => {
  // Sign-in with Google answers with a redirect only.
  const rules = { 'operation-2xx-response': 'off' } as const;
  const config = await createConfig({ extends: ['recommended-strict'], rules });
  const problems = await lintFromString({ source: text, absoluteRef: 'openapi.json', config });
  return problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer}`);
};

it('passes the linter, which holds every example against its schema', async () => {
  const text = JSON.stringify(document);
  expect(await problemsOf(text)).toEqual([]);
  const damaged = structuredClone(document);
  const example = damaged.paths['/v1/api/markets']?.['get']?.responses['200']?.content?.['application/json']?.example;
  const [market] = (example as { markets: Record<string, unknown>[] }).markets;
  Object.assign(market ?? {}, { liquidity: 'much', surprise: 1 });
  const found = await problemsOf(JSON.stringify(damaged));
  expect(found.some((problem) => problem.includes('liquidity'))).toBe(true);
  expect(found.some((problem) => problem.includes('surprise'))).toBe(true);
});

it('names every operation once, as a verb and what it is about', () => {
  const ids = operations.map(([, { operationId }]) => operationId);
  expect(new Set(ids).size).toBe(ids.length);
  for (const id of ids) expect(id).toMatch(/^[a-z]+([A-Z][a-z]+)+$/);
});

it('docs/figures.md defines every figure as the schemas do', () => {
  const page = readFileSync(new URL('../../docs/figures.md', import.meta.url), 'utf8');
  const [, tables = ''] = /<!-- figures -->\n(.*)\n<!-- end of figures -->/s.exec(page) ?? [];
  expect(tables.trim()).toBe(metricsTables(document.components.schemas));
});
