import cors, { type FastifyCorsOptions } from '@fastify/cors';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { EXPOSED } from './security-headers.ts';

/** Whether a browser asks if a page may call. It sends no key with this, and asks for each address that the page reads. */
export const isPreflight = ({ method, headers }: FastifyRequest): boolean =>
  method === 'OPTIONS' && headers.origin !== undefined && headers['access-control-request-method'] !== undefined;

/** Lets pages of these origins call, with cookies. */
export async function allowOrigins(app: FastifyInstance, origins: string[]): Promise<void> {
  if (origins.length === 0) return;
  const settings: FastifyCorsOptions = {
    origin: origins,
    methods: ['GET', 'HEAD', 'POST', 'PATCH', 'DELETE'],
    credentials: true,
    exposedHeaders: EXPOSED,
    maxAge: 600,
  };
  // Any other OPTIONS is a method that no route has, as it is without CORS.
  await app.register(cors, {
    delegator: (request, done) => done(null, { ...settings, preflight: isPreflight(request) }),
  });
}
