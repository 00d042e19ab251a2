import { z } from 'zod';
import { parseSize, parseUsd, sizeText, usdText } from '../core/decimal.ts';
import type { Platform } from '../core/model.ts';
import { type HeldBars, heldBars, type HeldRange } from '../present/trades/bars.ts';
import type { ClickHouse } from '../stores/clickhouse/client.ts';
import type { Postgres } from '../stores/postgres/client.ts';

/** Where bars are read. */
export interface BarStores {
  clickhouse: Pick<ClickHouse, 'query'>;
  postgres: Pick<Postgres, 'db'>;
}

/** One price series of a market, and its buckets of [startTs, endTs); Unix seconds. */
export interface OwnBarsQuery {
  platform: Platform;
  ref: string;
  series: number;
  /** Series whose trades count beside those of `series`: for volume, notional and number, not for prices. */
  alsoCounted?: readonly number[];
  stepSeconds: number;
  startTs: number;
  endTs: number;
  /** Whether the span was read from PostgreSQL: its copy has the trades of the span, or says which it lacks. */
  isHeld?: true;
  /** Bars from PostgreSQL of the first series in these buckets, if they were read before. */
  bars?: HeldBars | null;
}

const text = z.string().nullable();
/** A row of sql/queries/bars_of_trades.sql. */
const OwnRow = z.object({
  t: z.coerce.number(),
  open: text,
  high: text,
  low: text,
  close: text,
  volume: z.string(),
  notional: z.string(),
  trades: z.coerce.number(),
});
/** A bucket with stored trades. */
export type OwnBar = z.infer<typeof OwnRow>;
const NOTHING_TRADED = { open: null, high: null, low: null, close: null, volume: '0', notional: '0', trades: 0 };
/** The close of a bar. */
interface Close {
  startTs: number;
  text: string;
}

/** Where bars of stored trades are read. */
export interface OwnBars {
  /** The bars of [startTs, endTs). */
  between(startTs: number, endTs: number): Promise<readonly OwnBar[]>;
  /** The last price before a bucket; null if there is none. */
  closeBefore(startTs: number): Promise<Close | null>;
}

/** The range of buckets as PostgreSQL is asked for it: the last bucket is always read completely. */
export const heldRange = ({
  startTs,
  endTs,
  stepSeconds,
}: Pick<OwnBarsQuery, 'startTs' | 'endTs' | 'stepSeconds'>): HeldRange => ({
  startTs,
  endTs: Math.ceil(endTs / stepSeconds) * stepSeconds,
  stepSeconds,
  barSeconds: stepSeconds < 3600 ? 60 : 3600,
});

/** Bars of stored trades: from PostgreSQL, read at once, if it has all trades of the range; else from ClickHouse. */
export async function ownBars(stores: BarStores, query: OwnBarsQuery): Promise<OwnBars> {
  const ofSeries = (series: number): Promise<OwnBars> => barsOfSeries(stores, { ...query, series });
  const [own, others] = await Promise.all([
    ofSeries(query.series),
    Promise.all((query.alsoCounted ?? []).map(ofSeries)),
  ]);
  if (others.length === 0) return own;
  const all = [own, ...others];
  return {
    between: async (startTs, endTs) => summed(await Promise.all(all.map((bars) => bars.between(startTs, endTs)))),
    closeBefore: (startTs) => own.closeBefore(startTs),
  };
}

/** The bars of the first list, with what was traded in all of them. */
function summed([own = [], ...others]: readonly (readonly OwnBar[])[]): OwnBar[] {
  const bars = new Map(own.map((bar) => [bar.t, bar]));
  for (const bar of others.flat()) {
    const { volume, notional, trades, ...known } = bars.get(bar.t) ?? { ...NOTHING_TRADED, t: bar.t };
    bars.set(bar.t, {
      ...known,
      volume: sizeText(parseSize(volume) + parseSize(bar.volume)),
      notional: usdText(parseUsd(notional) + parseUsd(bar.notional)),
      trades: trades + bar.trades,
    });
  }
  return [...bars.values()];
}

async function barsOfSeries({ clickhouse, postgres }: BarStores, query: OwnBarsQuery): Promise<OwnBars> {
  const stored = storedBars(clickhouse, query);
  if (!query.isHeld) return stored;
  const isRead = query.series === 0 && query.bars !== undefined;
  const held = isRead ? query.bars : await heldBars(postgres, { ...query, ...heldRange(query) });
  if (!held) return stored;
  const { bars, before } = held;
  return {
    between: async (startTs, untilTs) => bars.filter(({ t }) => t >= startTs && t < untilTs),
    async closeBefore(startTs) {
      const last = bars.findLast(({ t, close }) => t < startTs && close !== null);
      if (last?.close != null) return { startTs: last.t, text: last.close };
      return before === undefined ? stored.closeBefore(startTs) : before;
    },
  };
}

const CloseRow = z.object({ t: z.coerce.number(), close: z.string() });

function storedBars(clickhouse: BarStores['clickhouse'], query: OwnBarsQuery): OwnBars {
  const { platform, ref, series, stepSeconds: step } = query;
  const asked = { platform, ref, series, step, candles: candlesFor(step) };
  return {
    between: (start, end) => clickhouse.query('bars_of_trades', OwnRow, { ...asked, start, end }),
    async closeBefore(start) {
      const [row] = await clickhouse.query('last_priced_bar', CloseRow, { ...asked, start });
      return row ? { startTs: row.t, text: row.close } : null;
    },
  };
}

/** The table of bars that buckets of trades are made of. */
export const candlesFor = (stepSeconds: number): string => (stepSeconds < 3600 ? 'candles_1m' : 'candles_1h');
