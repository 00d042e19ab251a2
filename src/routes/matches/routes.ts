import type { FastifyInstance } from 'fastify';
import type { Services } from '../services.ts';
import { matchGapRoutes } from './gaps.ts';
import { matchListRoutes } from './list.ts';

/** GET matches, matches/gaps, matches/{id}. */
export function matchRoutes(app: FastifyInstance, services: Services): void {
  matchGapRoutes(app, services);
  matchListRoutes(app, services);
}
