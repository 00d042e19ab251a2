import { INTERVAL_SECONDS } from '../../core/model.ts';
import { PlatformError } from '../../core/errors.ts';
import type { OracleCandles, ReadContext, StoredMarket } from '../contract.ts';
import { isoFromEpoch } from '../market-fields.ts';
import { nullIfStatedAbsent, parseBody, parseRows } from '../parse-rows.ts';
import type { LimitlessClient } from './client.ts';
import { LimitlessOracleCandle, LimitlessOracleCandles } from './wire.ts';

interface Span {
  interval: keyof typeof INTERVAL_SECONDS;
  startTs: number;
  endTs: number;
}

const ROW = { platform: 'limitless', kind: 'candle', idKey: 'timestamp' } as const;

/** Bars of the asset on which a price market settles, oldest first; null if the market has no oracle. */
export async function readOracleCandles(
  client: LimitlessClient,
  market: StoredMarket,
  { interval, startTs, endTs }: Span,
  context: ReadContext,
): Promise<OracleCandles | null> {
  const path = `/markets/${encodeURIComponent(market.ref)}/oracle-candles`;
  const reply = await client
    .get(path, { interval, from: startTs, to: endTs }, context)
    .catch((error: unknown) => nullWithoutOracle(error, market));
  if (!reply) return null;
  const { source, symbol, rows } = parseBody('limitless', LimitlessOracleCandles, reply, path);
  const step = INTERVAL_SECONDS[interval];
  const bars = new Map<number, OracleCandles['candles'][number]>();
  for (const { row } of parseRows(LimitlessOracleCandle, rows, ROW, context)) {
    const { timestamp, ...prices } = row;
    const at = Date.parse(isoFromEpoch(timestamp) ?? '') / 1000;
    if (at % step !== 0) {
      const reason = `timestamp: not a multiple of ${step} s`;
      context.onBadRow({ platform: 'limitless', kind: 'candle', id: String(timestamp), reason });
    } else if (at >= startTs && at < endTs) bars.set(at, { startTs: at, ...prices });
  }
  return { source, symbol, candles: [...bars.values()].toSorted((a, b) => a.startTs - b.startTs) };
}

/** 404, and 400 for a market whose row names no oracle. */
function nullWithoutOracle(error: unknown, { metadata }: StoredMarket): null {
  const isRefused = error instanceof PlatformError && error.status === 400;
  return isRefused && metadata['oracle'] === undefined ? null : nullIfStatedAbsent(error);
}
