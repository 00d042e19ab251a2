import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import { createJsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { AuthMode } from './auth.ts';

/** The error body of every route, as OpenAPI shows it. */
export const ErrorAnswer = z
  .object({
    error: z.object({
      status: z.int().describe('HTTP status code'),
      message: z.string().describe('What went wrong, in words'),
      resolution: z.string().describe('What to do about it'),
      error_text: z.string().describe('Details; on 400 every failing field with the rule and the value received'),
    }),
  })
  .meta({ id: 'Error' });

const MEANING: Record<string, string> = {
  200: 'Success',
  201: 'Created',
  202: 'Sent; its fate is not known yet',
  302: 'Redirect to the identity provider or back',
  400: 'Invalid parameter or body',
  401: 'Missing or invalid API key or session',
  403: 'A session is needed, or the resource is not yours',
  404: 'Not found',
  409: 'Conflict with what exists',
  413: 'Body over 64 KiB',
  415: 'Body is not JSON',
  422: 'Refused by the platform, or no credential stored for it',
  429: 'Rate limit exceeded',
  500: 'Internal error',
  502: 'The platform answered nonsense',
  503: 'A store or the platform is unavailable',
  504: 'The platform did not answer in time',
};

const integer = (description: string) => ({ description, schema: { type: 'integer' as const } });
const HEADERS = {
  'X-RateLimit-Limit': integer('Requests allowed per minute'),
  'X-RateLimit-Remaining': integer('Requests left in the current window'),
  'X-Request-Id': { description: 'Names this request in the log', schema: { type: 'string' as const } },
};

const SECURITY: Record<AuthMode, Record<string, string[]>[]> = {
  key: [{ apiKey: [] }, { bearer: [] }],
  session: [{ session: [] }],
  none: [],
};

interface Operation {
  responses?: Record<string, { description?: string; headers?: Record<string, unknown> }>;
}

/** Serves the description at /v1/api/openapi.json and a reader for it at /docs, both without any outside resource. */
export async function describeApi(app: FastifyInstance, version: string): Promise<void> {
  const toJson = createJsonSchemaTransform({ skipList: [] });
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Forecastle',
        version,
        description: 'Prediction-market data and trading over Kalshi, Polymarket and Limitless.',
      },
      components: {
        securitySchemes: {
          apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
          bearer: { type: 'http', scheme: 'bearer', description: 'The API key as a bearer token' },
          session: { type: 'apiKey', in: 'cookie', name: 'jwt' },
        },
      },
    },
    transform: (route) => {
      const { config = {} } = route.route as { config?: { auth?: AuthMode } };
      const { schema, url } = toJson(route);
      return { url, schema: config.auth ? { ...schema, security: SECURITY[config.auth] } : { ...schema, hide: true } };
    },
    transformObject: (document) => {
      const described = jsonSchemaTransformObject(document);
      for (const path of Object.values(described.paths ?? {})) {
        for (const operation of Object.values(path ?? {}) as Operation[]) completeAnswers(operation);
      }
      return described;
    },
  });
  await app.register(swaggerUi, { routePrefix: '/docs', staticCSP: true });
  app.get('/v1/api/openapi.json', { schema: { hide: true } }, () => app.swagger());
}

/** Every answer names its headers; 304 stands beside each 200 that carries an ETag. */
function completeAnswers(operation: Operation): void {
  for (const [status, answer] of Object.entries(operation.responses ?? {})) {
    answer.description = MEANING[status] ?? 'Answer';
    const retry = status === '429' || status === '503';
    answer.headers = { ...HEADERS, ...(retry ? { 'Retry-After': integer('Seconds to wait') } : {}) };
  }
}
