import type { FastifyInstance } from 'fastify';
import { textParam } from '../../core/fields.ts';
import { answerStored } from '../../http/cached-answer.ts';
import { endpoint } from '../../http/endpoint.ts';
import { categorySlug } from '../../platforms/categories.ts';
import { calibration, HORIZONS } from '../../queries/calibration.ts';
import { CalibrationAnswer } from '../../schemas/calibration.ts';
import { enumParam, integerParam, optionalPlatformParam } from '../../schemas/parameters.ts';
import type { Services } from '../services.ts';

/** Settled markets hardly change. */
const CALIBRATION_MS = 60_000;
const MOST_BINS = 100;

/** GET analytics/calibration. */
export function calibrationRoutes(app: FastifyInstance, services: Services): void {
  const { clickhouse, config } = services;

  endpoint(
    app,
    {
      method: 'GET',
      url: '/v1/api/analytics/calibration',
      auth: 'key',
      tag: 'Analytics',
      operation: 'getCalibration',
      summary: 'How often markets priced p came true',
      description:
        'Settled markets by the price of their first outcome at `horizon` before they closed: the last stored trade at or before that instant (blocks excepted), else the last stored quote, never a later one. A market closes when its trading ends or when it is settled, whichever comes first. At most the 20,000 markets that closed last are counted.',
      query: {
        platform: optionalPlatformParam(),
        category: textParam(100).optional().describe('Slug of analytics/categories'),
        horizon: enumParam(HORIZONS).default('1d').describe('Time before the close at which prices are taken'),
        bins: integerParam(1, MOST_BINS)
          .default(10)
          .describe(`Number of ranges of equal width that prices are counted in, 1 to ${MOST_BINS}`),
      },
      stored: 'rows',
      answer: CalibrationAnswer,
    },
    (call) => {
      const { query } = call;
      const platforms = query.platform ? [query.platform] : config.platforms;
      const cache = { ttlMs: CALIBRATION_MS, from: 'trades', platforms } as const;
      return answerStored(services, call, cache, async () => {
        const { horizon, bins } = query;
        const category = query.category === undefined ? '' : categorySlug(query.category);
        const found = await calibration(clickhouse, { platforms, category, horizon, bins });
        return {
          body: { calibration: found.calibration },
          meta: { platforms, category, horizon, bins, ...found.meta },
          rows: 'calibration',
        };
      });
    },
  );
}
