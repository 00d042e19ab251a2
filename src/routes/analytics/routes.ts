import type { FastifyInstance } from 'fastify';
import type { Services } from '../services.ts';
import { calibrationRoutes } from './calibration.ts';
import { whaleTradeRoutes } from './whale-trades.ts';
import { windowRoutes } from './windows.ts';

/** GET trades/whales, markets/trending, categories, analytics/calibration. */
export function analyticsRoutes(app: FastifyInstance, services: Services): void {
  whaleTradeRoutes(app, services);
  windowRoutes(app, services);
  calibrationRoutes(app, services);
}
