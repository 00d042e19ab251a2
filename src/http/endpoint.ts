import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify';
import { z } from 'zod';
import type { Caller, SessionCaller } from '../accounts/caller.ts';
import type { AuthMode, LimitMode, Stored } from './auth.ts';
import { ErrorAnswer } from '../schemas/error.ts';
import { formatParam } from './formats.ts';
import type { Tag } from './openapi/describe.ts';
import type { Fields } from './market-ids.ts';
import { inputReader, type Together, type Values } from './read-input.ts';

/** Declares an endpoint: its input, its callers and its answer. OpenAPI is generated from it. */
interface Endpoint<P extends Fields, Q extends Fields, B extends Fields, A extends AuthMode, R extends z.ZodType> {
  method: 'GET' | 'POST' | 'DELETE' | 'PATCH';
  /** The whole path, e.g. `/v1/api/markets/id/:id`. */
  url: string;
  auth: A;
  /** The section of the specification it belongs to. */
  tag: Tag;
  /** Its name in generated clients: a verb and its object. */
  operation: string;
  summary: string;
  description?: string;
  params?: P;
  query?: Q;
  /** Fields of the JSON body; without it a body is ignored. */
  body?: B;
  /** Rules across fields of query and body; listed in the same 400 as those of single fields. */
  together?: Together<Q & B>;
  /** Undeclared names are ignored. A third party writes the request and may add names. */
  ignoresUnknown?: true;
  /** The body of a success. */
  answer: R;
  /** Answered through answerStored: with ETag and 304; a list of `rows` in other formats too; a `file` as Parquet. */
  stored?: Stored;
  /** The handler itself sends server-sent events. */
  streamed?: true;
  /** Further media types that the handler itself sends. */
  types?: readonly string[];
  /** Success statuses; the first is used unless the handler sets another. Default 200. */
  statuses?: readonly [number, ...number[]];
  /** Error statuses beyond 400, 401, 404 with an id in the path, 413, 415, 429 with a limit, 500 and 503. */
  errors?: readonly number[];
  /** Which limit a call without an identified caller counts against; the others count every call. */
  limit?: LimitMode;
}

/** Input of a handler: every section parsed and typed, and the caller. */
interface Call<P extends Fields, Q extends Fields, B extends Fields, A extends AuthMode, R extends z.ZodType> {
  /** The declared schema, against which answerStored's argument is checked. */
  answer: R;
  params: Values<P>;
  query: Values<Q>;
  body: Values<B>;
  /** null only where auth is `none` and no caller was identified. */
  caller: A extends 'session' ? SessionCaller : A extends 'none' ? Caller | null : Caller;
  request: FastifyRequest;
  reply: FastifyReply;
}

type None = Record<never, z.ZodType>;

/** Declares an endpoint. The handler runs after identification, limits, guard and validation, and returns the body or the reply it sent. */
export function endpoint<
  A extends AuthMode,
  R extends z.ZodType,
  P extends Fields = None,
  Q extends Fields = None,
  B extends Fields = None,
>(
  app: FastifyInstance,
  spec: Endpoint<P, Q, B, A, R>,
  handler: (call: Call<P, Q, B, A, R>) => Promise<z.input<R> | FastifyReply> | z.input<R> | FastifyReply,
): void {
  const { method, url, auth, params = {} as P, body } = spec;
  // Read by answerStored: the handler answers the same for every format.
  const query = { ...spec.query, ...(spec.stored === 'rows' ? { format: formatParam() } : {}) };
  const statuses = spec.statuses ?? [200];
  const together = spec.together as Together<Fields> | undefined;
  const read = inputReader({ params, query, ...(body ? { body } : {}) }, together, spec.ignoresUnknown);
  app.route({
    method: method as HTTPMethods,
    url,
    config: {
      auth,
      limit: spec.limit ?? 'address',
      operation: spec.operation,
      answer: spec.answer,
      stored: spec.stored,
      streamed: spec.streamed,
      types: spec.types,
    },
    schema: {
      tags: [spec.tag],
      operationId: spec.operation,
      summary: spec.summary,
      ...(spec.description ? { description: spec.description } : {}),
      ...(Object.keys(params).length > 0 ? { params: z.object(params) } : {}),
      ...(Object.keys(query).length > 0 ? { querystring: z.object(query) } : {}),
      ...(body ? { body: z.object(body) } : {}),
      response: Object.fromEntries([
        ...errorStatuses(spec).map((status) => [status, ErrorAnswer]),
        ...statuses.map((status) => [status, spec.answer]),
      ]),
    },
    handler: (request, reply) => {
      const given = read(request) as { params: Values<P>; query: Values<Q> & { format?: unknown }; body: Values<B> };
      delete given.query.format;
      reply.code(statuses[0]);
      // The guard admitted this caller, so it is of the kind that `auth` names.
      const caller = request.caller as Call<P, Q, B, A, R>['caller'];
      const { answer: schema } = spec;
      const answer = handler({ ...given, caller, request, reply, answer: schema });
      // Given the reply, Fastify would wait for its end.
      return answer === reply ? undefined : answer;
    },
  });
}

function errorStatuses(spec: {
  url: string;
  auth: AuthMode;
  body?: Fields;
  errors?: readonly number[];
  limit?: LimitMode;
}): number[] {
  const statuses = new Set([400, 500, 503, ...(spec.errors ?? [])]);
  if (spec.limit !== 'none') statuses.add(429);
  if (spec.auth !== 'none') statuses.add(401);
  if (spec.auth !== 'none') statuses.add(403);
  if (spec.url.includes(':')) statuses.add(404);
  if (spec.body) for (const status of [413, 415]) statuses.add(status);
  return [...statuses].toSorted((a, b) => a - b);
}
