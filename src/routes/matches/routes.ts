import type { FastifyInstance } from 'fastify';
import type { Services } from '../services.ts';
import { matchGapRoutes } from './gaps.ts';
import { matchListRoutes } from './list.ts';
import { matchVerdictRoutes } from './verdicts.ts';

export { gapReader } from './watched-gaps.ts';

/** GET matches, matches/gaps, matches/{id}; POST and DELETE matches/{id}/verdict. */
export function matchRoutes(app: FastifyInstance, services: Services): void {
  matchGapRoutes(app, services);
  matchListRoutes(app, services);
  matchVerdictRoutes(app, services);
}
