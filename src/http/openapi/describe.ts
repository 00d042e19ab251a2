import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyContextConfig, FastifyInstance } from 'fastify';
import { createJsonSchemaTransform, createJsonSchemaTransformObject } from 'fastify-type-provider-zod';
import { PLATFORM_NAMES } from '../../core/model.ts';
import { listText } from '../../core/text.ts';
import type { AuthMode, Stored } from '../auth.ts';
import { describeStreams } from './asyncapi.ts';
import { DOCS_THEME, QUICK_START } from './docs-theme.ts';
import { exampleOf } from './examples.ts';
import { streamsPage } from './streams-page.ts';

/** The sections of the specification; OpenAPI lists operations by them. */
const TAGS = {
  Markets: 'Markets of one platform: lists, order books, trades and price bars',
  Portfolio: "Trades and positions of a platform's users",
  Analytics: 'Large trades, trending markets and categories, of one platform or all',
  Metrics: 'Metrics of one market, now and over time',
  Matches: 'Markets of two platforms that ask the same question, or related ones',
  Files: 'Daily Parquet files',
  Streams: 'Live events, with replay of recent weeks',
  Orders: 'Orders on the platforms, with stored credentials or the default client of the operator',
  Account: 'Accounts, sessions, API keys, platform credentials and limits on orders',
  Infrastructure: 'The service itself',
} as const;
export type Tag = keyof typeof TAGS;

const MEANING: Record<string, string> = {
  200: 'Success',
  201: 'Created',
  202: 'Sent; the result is not known yet',
  302: 'Redirect to the identity provider or back',
  206: 'The requested range of the file',
  304: 'Not modified since the ETag in If-None-Match',
  400: 'Invalid parameter or body',
  401: 'Missing or invalid API key or session',
  403: 'Not allowed: a session, another scope or address of the key, or a recent login is required',
  404: 'Not found',
  409: 'Conflict with existing data',
  413: 'Body over 64 KiB',
  415: 'Body is not JSON',
  416: 'Range lies outside the file',
  422: 'Refused by the platform, or no credential stored for it',
  429: 'Rate limit exceeded',
  500: 'Internal error',
  502: 'Invalid response from the platform',
  503: 'A store or the platform is unavailable',
  504: 'The platform did not respond in time',
};

const integer = (description: string) => ({ description, schema: { type: 'integer' as const } });
const text = (description: string) => ({ description, schema: { type: 'string' as const } });
const HEADERS = {
  'X-RateLimit-Limit': integer('Requests allowed per minute'),
  'X-RateLimit-Remaining': integer('Requests left in the current window'),
  'X-Request-Id': text("Id of this request in the service's log"),
};
const ETAG = { ETag: text('Version of the answer without the times in its meta, for If-None-Match') };
const NEXT_CURSOR = { 'X-Next-Cursor': text('All formats but JSON: the cursor of the next page, absent on the last') };
const BYTES = { schema: { type: 'string' as const, format: 'binary' } };
const ROWS = {
  'text/csv': {
    schema: {
      type: 'string' as const,
      description:
        'One line per row, with a header. Nested fields are joined by _, those by outcome are yes_… and no_…. A text that a spreadsheet would run as a formula has an apostrophe before it',
    },
  },
  'application/x-ndjson': { schema: { type: 'string' as const, description: 'One JSON object per row' } },
  'application/vnd.apache.parquet': BYTES,
  'application/vnd.apache.arrow.stream': BYTES,
};

const RANGES = { 'Accept-Ranges': text('bytes: parts of the file can be requested') };
const PART = { 'Content-Range': text('The bytes sent, and the size of the file') };

/** For /docs: no outside resources, over plain http too. The reader sets styles inline, but loads scripts from files only. */
const DOCS_POLICY = {
  'default-src': "'self'",
  'base-uri': "'self'",
  'frame-ancestors': "'self'",
  'img-src': "'self' data:",
  'object-src': "'none'",
  'script-src': "'self'",
  'style-src': "'self' 'unsafe-inline'",
};

const STREAMS = { url: '/docs/streams', description: 'Events of both streams, and the WebSocket' };

const SECURITY: Record<AuthMode, Record<string, string[]>[]> = {
  key: [{ apiKey: [] }, { bearer: [] }],
  session: [{ session: [] }],
  either: [{ session: [] }, { apiKey: [] }, { bearer: [] }],
  none: [],
};

interface Media {
  schema?: unknown;
  example?: unknown;
}
interface Answer {
  description?: string;
  headers?: Record<string, unknown>;
  content?: Record<string, Media>;
}
interface Operation {
  operationId?: string;
  'x-stored'?: Stored;
  'x-streamed'?: true;
  'x-types'?: readonly string[];
  parameters?: { in: string }[];
  requestBody?: { content: Record<string, Media> };
  responses?: Record<string, Answer>;
}

/** What an endpoint declares beside its schemas. */
type Declared = Pick<FastifyContextConfig, 'auth' | 'stored' | 'streamed' | 'types'>;

/** Corrections to zod's schemas of parameters that are parsed from text. */
const schemas: Parameters<typeof createJsonSchemaTransform>[0]['zodToJsonConfig'] = {
  override: ({ zodSchema, jsonSchema }) => {
    const { def } = zodSchema._zod;
    if (def.type === 'default' || def.type === 'prefault') jsonSchema.default = def.defaultValue;
    if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
    if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  },
};

/** Serves the description at /v1/api/openapi.json and a reader for it at /docs, both without any outside resource. */
export async function describeApi(app: FastifyInstance, version: string): Promise<void> {
  const toJson = createJsonSchemaTransform({ skipList: [], zodToJsonConfig: schemas });
  const withSchemas = createJsonSchemaTransformObject({ zodToJsonConfig: schemas });
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Forecastle',
        version,
        description: `Prediction-market data and trading over ${listText(Object.values(PLATFORM_NAMES), 'and')}.${QUICK_START}`,
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: '/', description: 'The service that serves this description' }],
      tags: Object.entries(TAGS).map(([name, description]) =>
        name === 'Streams' ? { name, description, externalDocs: STREAMS } : { name, description },
      ),
      components: {
        securitySchemes: {
          apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'An API key, pk_…' },
          bearer: { type: 'http', scheme: 'bearer', description: 'The API key as a bearer token' },
          session: {
            type: 'apiKey',
            in: 'cookie',
            name: 'jwt',
            description: 'The cookie set by register and login',
          },
        },
      },
    },
    transform: (route) => {
      const { config = {} } = route.route as { config?: Declared };
      const { schema, url } = toJson(route);
      if (!config.auth) return { url, schema: { ...schema, hide: true } };
      const stored = config.stored ? { 'x-stored': config.stored } : {};
      const streamed = config.streamed ? { 'x-streamed': true } : {};
      const types = config.types ? { 'x-types': config.types } : {};
      const reads = config.auth === 'key' && route.route.method === 'GET';
      const security = reads ? [...SECURITY.key, ...SECURITY.session] : SECURITY[config.auth];
      return { url, schema: { ...schema, ...stored, ...streamed, ...types, security } };
    },
    transformObject: (document) => {
      const described = withSchemas(document);
      for (const path of Object.values(described.paths ?? {})) {
        for (const operation of Object.values(path ?? {}) as Operation[]) completeOperation(operation);
      }
      dropUnused(described as { paths?: object; components?: { schemas?: Record<string, unknown> } });
      return described;
    },
  });
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP: DOCS_POLICY,
    theme: DOCS_THEME,
    // Swagger's badge would reveal the address of this service to an outside one.
    uiConfig: { validatorUrl: null },
  });
  const page = streamsPage();
  app.get('/docs/streams', { schema: { hide: true } }, (_request, reply) =>
    reply.type('text/html; charset=utf-8').send(page),
  );
  const streams = describeStreams(version);
  app.get('/v1/api/asyncapi.json', { schema: { hide: true } }, () => streams);
  app.get('/v1/api/openapi.json', { schema: { hide: true } }, () => app.swagger());
}

/** Adds the headers of every answer, an example of each success, and a 304 to each 200 with an ETag. */
function completeOperation(operation: Operation): void {
  const {
    operationId = '',
    responses = {},
    'x-stored': stored,
    'x-streamed': streamed,
    'x-types': types = [],
  } = operation;
  for (const own of ['x-stored', 'x-streamed', 'x-types'] as const) delete operation[own];
  if (streamed && responses['200']) {
    const { schema } = responses['200'].content?.['application/json'] ?? {};
    responses['200'].content = { 'text/event-stream': { schema } };
  }
  // Generated clients take arguments in this order: path parameters come first.
  operation.parameters?.sort((a, b) => Number(b.in === 'path') - Number(a.in === 'path'));
  addExample(operation.requestBody?.content, `${operationId}.request`);
  if (stored) responses['304'] = {};
  for (const [status, answer] of Object.entries(responses)) {
    answer.description = MEANING[status] ?? 'Answer';
    const retry = status === '429' || status === '503';
    answer.headers = { ...HEADERS, ...(retry ? { 'Retry-After': integer('Seconds to wait') } : {}) };
    addExample(answer.content, `${operationId}.${status}`);
    // A redirect has no body.
    if (status === '302') delete answer.content;
    if (stored && (status === '200' || status === '304')) Object.assign(answer.headers, ETAG);
    if (stored === 'file') completeFile(status, answer);
    if (status === '200') for (const type of types) answer.content = { ...answer.content, [type]: BYTES };
    if (stored !== 'rows' || status !== '200') continue;
    Object.assign(answer.headers, NEXT_CURSOR);
    Object.assign(answer.content ?? {}, ROWS);
  }
}

/** A file may be sent in parts. */
function completeFile(status: string, answer: Answer): void {
  const isSent = status === '200' || status === '206';
  if (isSent) answer.content = { 'application/vnd.apache.parquet': BYTES };
  Object.assign(answer.headers ?? {}, isSent ? RANGES : {}, status === '206' || status === '416' ? PART : {});
}

function addExample(content: Record<string, Media> | undefined, name: string): void {
  const media = content?.['application/json'];
  const example = exampleOf(name);
  if (media && example !== undefined) media.example = example;
}

/** Every schema is generated for input and for output; most are used in only one of them. */
function dropUnused({
  paths,
  components,
}: {
  paths?: object;
  components?: { schemas?: Record<string, unknown> };
}): void {
  const schemas = components?.schemas ?? {};
  const used = new Set<string>();
  const follow = (value: unknown): void => {
    for (const [, name = ''] of JSON.stringify(value).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      if (used.has(name)) continue;
      used.add(name);
      follow(schemas[name]);
    }
  };
  follow(paths ?? {});
  for (const name of Object.keys(schemas)) if (!used.has(name)) delete schemas[name];
}
