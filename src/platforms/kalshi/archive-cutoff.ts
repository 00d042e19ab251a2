import { PlatformError } from '../../core/errors.ts';
import { microseconds } from '../market-fields.ts';
import type { ReadContext } from '../contract.ts';
import { parseBody } from '../parse-rows.ts';
import type { KalshiClient } from './client.ts';
import { KalshiCutoff } from './wire.ts';

/** Unix seconds before which only /historical answers; live endpoints return nothing. It advances about once a day. */
interface Cutoff {
  marketSettledS: number;
  tradesCreatedS: number;
}

export type ReadCutoff = (maxAgeMs: number, context: ReadContext) => Promise<Cutoff>;

function seconds(text: string): number {
  const us = microseconds(text);
  if (us === null) throw new PlatformError('kalshi', 'bad_answer', { detail: '/historical/cutoff: not a time' });
  return Math.floor(us / 1e6);
}

/** Reads the cutoff, or returns one read at most `maxAgeMs` ago. */
export function createCutoff(client: Pick<KalshiClient, 'get'>, now: () => number): ReadCutoff {
  let known: { cutoff: Cutoff; readAtMs: number } | null = null;
  return async (maxAgeMs, context) => {
    if (known && now() - known.readAtMs <= maxAgeMs) return known.cutoff;
    const readAtMs = now();
    const body = parseBody('kalshi', KalshiCutoff, await client.get('/historical/cutoff', {}, context));
    const cutoff = {
      marketSettledS: seconds(body.market_settled_ts),
      tradesCreatedS: seconds(body.trades_created_ts),
    };
    known = { cutoff, readAtMs };
    return cutoff;
  };
}
