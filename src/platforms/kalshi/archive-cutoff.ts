import type { z } from 'zod';
import { PlatformError } from '../../core/errors.ts';
import { microseconds } from '../market-fields.ts';
import type { ReadContext } from '../contract.ts';
import { parseBody } from '../parse-rows.ts';
import type { KalshiClient } from './client.ts';
import { KalshiCutoff } from './wire.ts';

const PATH = '/historical/cutoff';

/** Unix seconds before which only /historical answers, for markets or trades; live endpoints return nothing. It advances about once a day. */
export type ReadCutoff = (
  field: 'market_settled_ts' | 'trades_created_ts',
  maxAgeMs: number,
  context: ReadContext,
) => Promise<number>;

/** Reads a cutoff, or returns one read at most `maxAgeMs` ago. bad_answer if that field is not a time. */
export function createCutoff(client: Pick<KalshiClient, 'get'>, now: () => number): ReadCutoff {
  let known: { body: z.infer<typeof KalshiCutoff>; readAtMs: number } | null = null;
  return async (field, maxAgeMs, context) => {
    if (!known || now() - known.readAtMs > maxAgeMs) {
      const readAtMs = now();
      known = { body: parseBody('kalshi', KalshiCutoff, await client.get(PATH, {}, context)), readAtMs };
    }
    const us = microseconds(known.body[field]);
    if (us === null) {
      known = null;
      throw new PlatformError('kalshi', 'bad_answer', { detail: `${PATH}: ${field} is not a time` });
    }
    return Math.floor(us / 1e6);
  };
}
