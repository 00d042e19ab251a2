import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { requireScope } from '../http/auth.ts';
import { endpoint } from '../http/endpoint.ts';
import { enumParam } from '../schemas/parameters.ts';
import { SqlAnswer } from '../schemas/sql.ts';
import { JSON_ROWS, SQL_FORMATS } from '../stores/clickhouse/analyst-sql.ts';
import type { Services } from './services.ts';

const MAX_STATEMENT = 60_000;
const TYPES = {
  json: 'application/json; charset=utf-8',
  csv: 'text/csv; charset=utf-8',
  parquet: 'application/vnd.apache.parquet',
} as const;
const rule = { error: `a statement of 1 to ${MAX_STATEMENT} characters` };

/** The type of the asked format; of a FORMAT in the statement itself, the engine's. */
function typeOf({ headers }: Response, format: keyof typeof TYPES): string {
  const isOwn = headers.get('x-clickhouse-format') !== SQL_FORMATS[format];
  return (isOwn ? headers.get('content-type') : null) ?? TYPES[format];
}

/** POST /v1/api/sql: the same as SQL_PORT, for pages with a session, and for programs with a key. */
export function sqlRoutes(app: FastifyInstance, { analystSql }: Services): void {
  endpoint(
    app,
    {
      method: 'POST',
      url: '/v1/api/sql',
      auth: 'either',
      tag: 'Infrastructure',
      operation: 'runSql',
      summary: 'Read-only SQL over the views',
      description: `Limits and allowed statements are those of SQL_PORT; at most two statements of a user run at once. JSON contains the first ${JSON_ROWS} rows, CSV and Parquet contain all. An API key needs the scope read.`,
      body: {
        query: z.string(rule).trim().min(1, rule).max(MAX_STATEMENT, rule).describe('One SELECT, SHOW or DESCRIBE'),
        format: enumParam(Object.keys(SQL_FORMATS) as ['json', 'csv', 'parquet'])
          .default('json')
          .describe('Output format; a FORMAT in the statement counts before it'),
      },
      types: ['text/csv', 'application/vnd.apache.parquet'],
      answer: SqlAnswer,
    },
    async ({ body, caller, reply }) => {
      if (caller.kind === 'key') requireScope(caller, 'read');
      const gone = new AbortController();
      reply.raw.on('close', () => gone.abort());
      const answer = await analystSql.run(caller.userId, body.query, body.format, gone.signal);
      const rows = answer.body ? Readable.fromWeb(answer.body as ReadableStream) : Readable.from([]);
      return reply.type(typeOf(answer, body.format)).send(rows);
    },
  );
}
